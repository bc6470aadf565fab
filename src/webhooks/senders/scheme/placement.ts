/** Tells where a request carries the values that its scheme reads beside the payload. Pure. */
import { hasRequestBody } from '../../members/target-rules.ts';
import { toSourceList, type Scheme, type ValueSource } from './scheme.ts';

export type PlacementName = 'signature' | 'timestamp' | 'id';

/** The place of each value: the first source that the scheme reads. */
export function listPlacements(
  { signature, timestamp, id }: Scheme,
): readonly (readonly [PlacementName, ValueSource])[] {
  const sourcesByName = [
    ['signature', signature.from], ['timestamp', timestamp?.from], ['id', id],
  ] as const;
  return sourcesByName.flatMap(([name, sources]) => {
    const [first] = toSourceList(sources);
    return first === undefined ? [] : [[name, first] as const];
  });
}

/** The header in which the sender names the event; null: it has none. */
export function findEventHeader({ event }: Scheme): string | null {
  const [header = null] = toSourceList(event).flatMap((source) =>
    'header' in source ? [source.header] : []);
  return header;
}

export function findPlacement(
  scheme: Scheme, requestedName: PlacementName,
): ValueSource | undefined {
  return listPlacements(scheme).find(([name]) => name === requestedName)?.[1];
}

export function isInBody(source: ValueSource | undefined): boolean {
  return source !== undefined && ('json' in source || 'form' in source);
}

/** Whether the scheme reads JSON that is the value of a form's field. */
export function isJsonInForm({ payload }: Scheme): boolean {
  return typeof payload === 'object';
}

/** The values in the body without which no request is genuine. */
export function listRequiredInBody(scheme: Scheme): ReturnType<typeof listPlacements> {
  return listPlacements(scheme).filter(([name, source]) =>
    isInBody(source) && (name !== 'id' || /\{(?:id|token)\}/.test(scheme.content)));
}

/** What prevents that a request with that method is made as the sender would; null: nothing. */
export function findSigningObstacle(scheme: Scheme, method: string): string | null {
  const { algorithm, content } = scheme;
  const inBody = listRequiredInBody(scheme);
  if (inBody.length > 0 && !hasRequestBody(method)) {
    const names = inBody.map(([name]) => name).join(' and ');
    return `a ${method} request has no body, where the sender has its ${names}`;
  }
  const isCovered = /\{(?:body|plainBody|bodyCrc32|formSorted)\}/.test(content);
  if (algorithm !== 'token' && isCovered && isInBody(findPlacement(scheme, 'signature'))) {
    return 'the signature stands in the body that it covers';
  }
  const sources = inBody.map(([, source]) => source);
  const isMixed = sources.some((source) => 'json' in source)
    && sources.some((source) => 'form' in source) && !isJsonInForm(scheme);
  return isMixed ? 'the scheme looks into JSON and into a form, and a body is one of them' : null;
}

/**
 * Why no delivery can be signed so, whose body is somebody else's and stays as it is; null: it can.
 * The second text is the member of the scheme that is the reason, as a pointer.
 */
export function findDeliveryObstacle(scheme: Scheme): readonly [string, string] | null {
  const [inBody] = listRequiredInBody(scheme);
  if (inBody !== undefined) {
    const [name] = inBody;
    return [`its ${name} stands in the body, which a delivery does not change`,
      name === 'signature' ? '/signature/from' : `/${name}`];
  }
  return scheme.content.includes('{webhookId}')
    ? ['it signs {webhookId}, an identifier that only the sender gives', '/content'] : null;
}
