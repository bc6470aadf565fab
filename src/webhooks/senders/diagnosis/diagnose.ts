/**
 * Says why a request is rejected, or that it would be accepted: fourteen checks in one order. The
 * first that fails is the verdict; later failures are hints. It shows neither the secret nor the
 * expected signature, and only 8 characters of the given signature.
 */
import type { Preset } from '../presets/preset.ts';
import { PRESETS } from '../presets/preset-table.ts';
import {
  createRequestReader, type RequestReader, type RawRequest,
} from '../request/request-reader.ts';
import { listCoveredParts, toSourceList, type Scheme, type ValueSource } from '../scheme/scheme.ts';
import {
  buildHandshakeResponse, findHandshake, isHandshakeAttempt,
} from '../verification/handshake.ts';
import { createRejection, describeSources, type SenderVerdict } from '../verification/verdict.ts';
import { verify, type Verifier, type VerifierSecret } from '../verification/verify.ts';
import { findNearMiss } from './near-misses.ts';
import { DiagnosisReport, SIGNATURE_CHECKS, type Diagnosis } from './diagnosis-report.ts';

type DiagnosisInput = {
  readonly preset: Preset;
  readonly verifier: Verifier;
  readonly secrets: readonly VerifierSecret[];
  readonly request: RawRequest;
  /** The URL that was called; null: unknown. */
  readonly url: string | null;
  /** Whether the webhook accepts every request, as it has neither `verification` nor secret. */
  readonly acceptsUnsigned: boolean;
  /** Why the webhook accepts no such request, even if it is signed, such as that it is disabled. */
  readonly rejectionReason: string | null;
  /** null: the client is unknown, or any address may call. */
  readonly address: { readonly client: string; readonly isAllowed: boolean } | null;
  /** null: the request is complete, and is judged again. */
  readonly recordedVerdict: RecordedVerdict | null;
  readonly duplicate: PartFinding;
  /** An oddity of the body, whether or not it is signed; null: there is none. */
  readonly bodyHint: string | null;
  /** null: the webhook has one action for every request. */
  readonly routes: PartFinding | null;
  readonly nowMs: number;
};

/** The verdict of the time when a request came that cannot be judged again. */
export type RecordedVerdict = {
  readonly accepted: boolean;
  /** The failed check; a diagnosis does not have every such check. */
  readonly failedCheck: string | null;
  readonly secret: 'current' | 'previous' | null;
  /** The part that was not stored, as a clause. */
  readonly missingEvidence: string;
};

/** The finding of a check that others make. */
export type PartFinding = Pick<Diagnosis['checks'][number], 'status' | 'finding'>;

const SHOWN_CHARACTERS = 8;
/** Before signatures as GitHub makes them. */
const SHA256_PREFIX = 'sha256=';

export async function diagnose(input: DiagnosisInput): Promise<Diagnosis> {
  const { verifier, nowMs } = input;
  const reader = createRequestReader(verifier.scheme, input.request);
  const report = new DiagnosisReport();
  // The verdict apart from age and configuration, which have checks of their own.
  const agelessVerdict = toSenderVerdict(input.recordedVerdict)
    ?? verify({ ...verifier, toleranceMs: null, problem: null }, reader, nowMs);
  checkConfiguration(report, input);
  if (input.acceptsUnsigned) {
    report.note('secret', 'skipped', 'the webhook has no secret');
    checkAddress(report, input);
    report.skipTo('duplicate', 'nothing is verified');
    report.note('duplicate', input.duplicate.status, input.duplicate.finding);
    report.note('coverage', 'hint', 'nothing is signed: anybody can call');
    checkBody(report, input);
    checkRoutes(report, input);
    return report.finish();
  }
  checkSecret(report, input, agelessVerdict);
  checkAddress(report, input);
  const isHandshake = checkHandshake(report, input, reader);
  if (isHandshake) {
    report.skipTo('coverage', 'a handshake needs none');
  } else {
    checkSignature(report, input, reader, agelessVerdict);
    await checkNearMiss(report, input, agelessVerdict);
    checkAge(report, input, reader, agelessVerdict);
    report.note('duplicate', input.duplicate.status, input.duplicate.finding);
  }
  report.note('coverage', ...assessCoverage(verifier.scheme));
  checkBody(report, input);
  if (!isHandshake) checkRoutes(report, input);
  return report.finish();
}

function checkBody(report: DiagnosisReport, { bodyHint }: DiagnosisInput): void {
  if (bodyHint !== null) report.note('body', 'hint', bodyHint);
}

function checkRoutes(report: DiagnosisReport, { routes }: DiagnosisInput): void {
  if (routes !== null) report.note('routes', routes.status, routes.finding);
}

function checkConfiguration(report: DiagnosisReport, input: DiagnosisInput): void {
  const { verifier, preset: { name }, rejectionReason, acceptsUnsigned } = input;
  const { problem, settings, scheme: { needs = [] } } = verifier;
  const missing = needs.find((need) => settings[need] === undefined);
  if (rejectionReason !== null) report.note('configuration', 'failed', rejectionReason);
  else if (acceptsUnsigned) {
    report.note('configuration', 'ok', 'no secret is set, so that every request is taken');
  } else if (missing !== undefined) {
    const meaning = missing === 'url' ? ': the URL as registered with the sender' : '';
    report.note('configuration', 'failed',
      `the preset ${name} needs verification.${missing}${meaning}`);
  } else if (problem?.check === 'configuration') {
    report.note('configuration', 'failed', `the preset ${name}: ${problem.finding}`);
  } else {
    const settingsText = needs.length === 0 ? '' : `, with ${needs.join(' and ')}`;
    report.note('configuration', 'ok', `the preset ${name}${settingsText}`);
  }
}

/** An oddity of the secret explains a signature that does not match. */
function checkSecret(
  report: DiagnosisReport, { verifier: { problem }, secrets }: DiagnosisInput,
  verdict: SenderVerdict,
): void {
  const current = secrets.find(({ role }) => role === 'current');
  if (current === undefined) return report.note('secret', 'skipped', 'the webhook has no secret');
  if (problem?.check === 'secret') {
    // A previous secret may still be valid.
    return report.note('secret', verdict.isGenuine ? 'hint' : 'failed', problem.finding);
  }
  const oddity = findSecretOddity(current.text);
  if (oddity === null) {
    return report.note('secret', 'ok', 'is of a shape that the preset can use');
  }
  const isMismatch = !verdict.isGenuine && verdict.check === 'mismatch';
  report.note('secret', isMismatch ? 'failed' : 'hint', oddity);
}

/** An oddity of the secret that is hardly intended, in words that do not show it. */
function findSecretOddity(secret: string): string | null {
  if (secret.startsWith('-----BEGIN ')) return null;
  if (/\r?\n$/.test(secret)) return 'the secret ends in a newline';
  if (secret !== secret.trim()) return 'the secret has white space around it';
  if (/^(["']).*\1$/s.test(secret)) return 'the secret stands in quotes';
  if (/[\u200b-\u200f\ufeff\u00a0]/.test(secret)) return 'the secret holds an invisible character';
  return secret.startsWith('sha256=') ? 'the secret begins with sha256=, as signatures do' : null;
}

function checkAddress(report: DiagnosisReport, { address }: DiagnosisInput): void {
  if (address === null) {
    return report.note('address', 'skipped', 'any address may call, or none was given');
  }
  const { client, isAllowed } = address;
  report.note('address', isAllowed ? 'ok' : 'failed',
    `${client} is ${isAllowed ? '' : 'not '}in allowedAddresses`);
}

/**
 * Reports on the handshake. true: the request is a handshake that is decided without a signature.
 */
function checkHandshake(
  report: DiagnosisReport, input: DiagnosisInput, reader: RequestReader,
): boolean {
  const { verifier, preset: { sender } } = input;
  const { scheme } = verifier;
  const unsignedHandshake = findHandshake(scheme, reader, 'unsigned');
  const handshake = unsignedHandshake ?? findHandshake(scheme, reader, 'signed');
  if (handshake === null) {
    const isAttempt = isHandshakeAttempt(scheme, reader);
    report.note('handshake', isAttempt ? 'failed' : 'skipped',
      isAttempt ? 'the challenge is not whole' : 'the request is no handshake');
    return isAttempt;
  }
  const response = buildHandshakeResponse(handshake, verifier, reader, input.nowMs);
  const name = handshake.when.find(({ equals }) => typeof equals === 'string')?.equals;
  const handshakeName = `${sender}'s ${name ?? 'handshake'}`;
  if ('finding' in response) {
    report.note('handshake', 'failed', `${handshakeName}: ${response.finding}`);
  } else {
    const { status, type } = response;
    const condition = unsignedHandshake === null ? ', when its signature is right' : '';
    report.note('handshake', 'ok',
      `${handshakeName}; would be answered ${status} as ${type}${condition}`);
  }
  return unsignedHandshake !== null;
}

function checkSignature(
  report: DiagnosisReport, input: DiagnosisInput, reader: RequestReader, verdict: SenderVerdict,
): void {
  const { recordedVerdict } = input;
  if (recordedVerdict !== null) return reportRecordedVerdict(report, recordedVerdict, verdict);
  if (input.verifier.keys.length === 0) {
    return report.skipTo('near_miss', 'there is no secret to check with');
  }
  for (const check of SIGNATURE_CHECKS) {
    if (!verdict.isGenuine && verdict.check === check) {
      report.note(check, 'failed',
        check === 'signature_missing' ? formatMissingFinding(input, reader) : verdict.finding);
      return report.skipTo('near_miss', 'the signature cannot be checked');
    }
    report.note(check, 'ok', formatOkFinding(check, input, reader, verdict));
  }
}

function formatOkFinding(
  check: typeof SIGNATURE_CHECKS[number], { verifier: { scheme }, secrets }: DiagnosisInput,
  reader: RequestReader, verdict: SenderVerdict,
): string {
  if (check === 'signature_missing') return `${describeSources(scheme.signature.from)} is there`;
  if (check === 'signature_form') return formatSignatureStart(scheme, reader);
  if (check === 'parts') {
    return scheme.timestamp === undefined && scheme.id === undefined
      ? 'none is needed' : 'what is signed beside the body is there';
  }
  if (!verdict.isGenuine || verdict.secret === 'current') return 'matches the secret';
  const previous = secrets.find(({ role }) => role === 'previous');
  const until = new Date(previous?.validUntilMs ?? 0).toISOString();
  return `matches the previous secret, valid until ${until}`;
}

/** Tokens are not shown, not even in part: a token may be the secret itself. */
function formatSignatureStart({ algorithm, signature }: Scheme, reader: RequestReader): string {
  if (algorithm === 'token') return 'as it should be';
  const { from, prefix = '', param } = signature;
  const value = reader.read(from) ?? '';
  const mark = param === undefined ? prefix : `${param}=`;
  const markAt = value.indexOf(mark);
  const start = markAt === -1 ? 0 : markAt + mark.length;
  return `begins ${value.slice(start, start + SHOWN_CHARACTERS)}`;
}

/**
 * For example `no X-Hub-Signature-256; there is Stripe-Signature: is the preset stripe?` Several
 * senders use one name for their signatures, such as X-Hub-Signature, so the header of the event
 * counts before that of the signature.
 */
function formatMissingFinding({ verifier, preset }: DiagnosisInput, reader: RequestReader): string {
  const finding = `no ${describeSources(verifier.scheme.signature.from)}`;
  const sha1Header = findSha1Header(verifier.scheme, reader);
  if (sha1Header !== undefined) {
    return `${finding}; its ${describeSources(sha1Header)} is of SHA-1 alone, which the preset ${
      preset.name} does not take: have the sender sign with SHA-256`;
  }
  const others = PRESETS.flatMap(({ name, scheme }) => scheme === null || name === preset.name ? []
    : [{
      name, eventHeader: findEventHeader(scheme, reader),
      signatureHeader: findSignatureHeader(scheme, reader),
    }]);
  const complete = others.find(({ eventHeader, signatureHeader }) =>
    eventHeader !== undefined && signatureHeader !== undefined);
  const ownEventHeader = findEventHeader(verifier.scheme, reader);
  if (complete === undefined && ownEventHeader !== undefined) {
    return `${finding}; by its ${describeSources(ownEventHeader)} the preset ${preset.name} is `
      + 'right';
  }
  const other = complete ?? others.find(({ eventHeader }) => eventHeader !== undefined)
    ?? others.find(({ signatureHeader }) => signatureHeader !== undefined);
  const header = other?.signatureHeader ?? other?.eventHeader;
  if (other === undefined || header === undefined) return finding;
  return `${finding}; there is ${describeSources(header)}: is the preset ${other.name}?`;
}

/** The header of a signature like that of the scheme, but of SHA-1. */
function findSha1Header(
  { signature: { prefix } }: Scheme, reader: RequestReader,
): ValueSource | undefined {
  if (prefix !== SHA256_PREFIX) return undefined;
  return PRESETS.flatMap(({ scheme }) => scheme === null ? [] : toSourceList(scheme.signature.from))
    .find((source) => 'header' in source && isOfSha1(reader.read(source)));
}

/** Old senders of GitHub's signature have `sha1=` before it. */
function isOfSha1(signature: string | null): boolean {
  return signature?.startsWith('sha1=') === true;
}

function findEventHeader(
  { event }: Pick<Scheme, 'event'>, reader: RequestReader,
): ValueSource | undefined {
  return event === undefined ? undefined : toSourceList(event).find((source) =>
    'header' in source && reader.read(source) !== null);
}

function findSignatureHeader(
  { signature: { from, prefix = '' }, algorithm }: Scheme, reader: RequestReader,
): ValueSource | undefined {
  return toSourceList(from).find((source) => {
    const value = 'header' in source ? reader.read(source) : null;
    if (value === null || (prefix === SHA256_PREFIX && isOfSha1(value))) return false;
    return algorithm !== 'token' || value.toLowerCase().startsWith(prefix.toLowerCase());
  });
}

async function checkNearMiss(
  report: DiagnosisReport, input: DiagnosisInput, verdict: SenderVerdict,
): Promise<void> {
  const { verifier: { scheme, settings, quirk }, preset, secrets, request, url, nowMs } = input;
  if (input.recordedVerdict !== null) {
    return report.note('near_miss', 'skipped',
      `${input.recordedVerdict.missingEvidence}: nothing can be tried`);
  }
  if (verdict.isGenuine || secrets.length === 0) {
    return report.note('near_miss', 'skipped', 'none is needed');
  }
  const change = await findNearMiss({
    scheme, quirk, preset: preset.name, settings, secrets, request, url, nowMs,
  });
  if (change !== null) return report.note('near_miss', 'hint', `would match ${change}`);
  report.note('near_miss', 'skipped', verdict.check === 'signature_missing'
    ? `nothing can be tried without ${describeSources(scheme.signature.from)}: the sender has no `
      + 'secret, or signs otherwise'
    : 'no usual mistake explains it: most likely the sender has another secret');
}

function checkAge(
  report: DiagnosisReport, { verifier, nowMs, recordedVerdict }: DiagnosisInput,
  reader: RequestReader, agelessVerdict: SenderVerdict,
): void {
  const skip = (finding: string): void => report.note('stale', 'skipped', finding);
  if (recordedVerdict !== null) return reportRecordedAge(report, recordedVerdict);
  if (verifier.toleranceMs === null) return skip('the scheme limits no age');
  if (!agelessVerdict.isGenuine) return skip('the signature does not match');
  const verdict = verify({ ...verifier, problem: null }, reader, nowMs);
  if (!verdict.isGenuine) return report.note('stale', 'failed', verdict.finding);
  const seconds = Math.round((nowMs - (verdict.signedAtMs ?? nowMs)) / 1000);
  if (seconds < 0) report.note('stale', 'hint', `${-seconds} s in the future: check the clock`);
  else report.note('stale', 'ok', `signed ${seconds} s ago`);
}

function assessCoverage(scheme: Scheme): readonly [status: 'ok' | 'hint', finding: string] {
  if (scheme.algorithm === 'token') {
    return ['hint',
      'a token covers neither body nor time: who reads one request can make any other'];
  }
  const names = listCoveredParts(scheme);
  const statement = `${joinNames(names)} ${names.length === 1 ? 'is' : 'are'} signed`;
  if (!names.includes('body')) {
    return ['hint', `${statement}, but the body is not: another one can be put in`];
  }
  if (!names.includes('time')) {
    return ['hint', `${statement}, but the time is not: a captured request stays valid for ever`];
  }
  return scheme.timestamp?.tolerance === null
    ? ['hint', `${statement}, but no age is limited, as retries may carry the first time`]
    : ['ok', statement];
}

/** Gives `body`, `body and time` or `body, time and id`; `nothing` for none. */
function joinNames(names: readonly string[]): string {
  const last = names.at(-1) ?? 'nothing';
  return names.length < 2 ? last : `${names.slice(0, -1).join(', ')} and ${last}`;
}

/** null: the request is complete, and is verified again. */
function toSenderVerdict(recordedVerdict: RecordedVerdict | null): SenderVerdict | null {
  if (recordedVerdict === null) return null;
  const { accepted, failedCheck, secret, missingEvidence } = recordedVerdict;
  if (accepted) return { isGenuine: true, secret: secret ?? 'current', signedAtMs: null };
  const check = SIGNATURE_CHECKS.find((name) => name === failedCheck);
  return createRejection(check ?? 'parts', missingEvidence);
}

function reportRecordedVerdict(
  report: DiagnosisReport, { failedCheck: failedCheckName, missingEvidence }: RecordedVerdict,
  verdict: SenderVerdict,
): void {
  const failedCheck = SIGNATURE_CHECKS.find((check) => check === failedCheckName);
  if (verdict.isGenuine) {
    return report.skipTo('near_miss', `${missingEvidence}; it passed when it came`);
  }
  if (failedCheck === undefined) {
    return report.skipTo('near_miss', `${missingEvidence}, so that it cannot be checked again`);
  }
  report.skipTo(failedCheck, 'it passed when it came');
  report.note(failedCheck, 'failed', `so it was found when it came; ${missingEvidence}`);
  return report.skipTo('near_miss', 'the signature cannot be checked');
}

function reportRecordedAge(
  report: DiagnosisReport, { failedCheck, missingEvidence }: RecordedVerdict,
): void {
  if (failedCheck !== 'stale') return report.note('stale', 'skipped', missingEvidence);
  return report.note('stale', 'failed', `so it was found when it came; ${missingEvidence}`);
}
