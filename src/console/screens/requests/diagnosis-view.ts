/** Diagnoses a request: the checks one after another, against the webhook as it is now. */
import { href } from '../../base/screen-address.ts';
import { callApi } from '../../base/api-calls.ts';
import { fill, h } from '../../base/dom.ts';
import { callerSession } from '../../base/caller-session.ts';
import { badge } from '../../parts/badge.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import type { Diagnosis } from '../../../webhooks/senders/diagnosis/diagnosis-report.ts';
import type { PublicRequest } from '../../../webhooks/inbox/request-schema.ts';

/** A rejected request is diagnosed at once, any other when the user asks. */
export function diagnosisSection(request: PublicRequest): HTMLElement | null {
  if (!callerSession.may('write')) return null;
  const container = h('div', { role: 'status' });
  const run = async (): Promise<void> => {
    try {
      const path = `/api/incoming-webhooks/${encodeURIComponent(request.hook)}/diagnose`;
      const { body } = await callApi<Diagnosis>('POST', path, { body: { request: request.id } });
      fill(container, renderDiagnosis(body, request.hook));
    } catch (thrown) {
      showFailureNotice(thrown);
    }
  };
  if (request.status === 'rejected') void run();
  return h('section', h('h2', 'Diagnosis'),
    h('button', { onclick: () => void run() },
      'Check it against the webhook as it is now'),
    container);
}

function renderDiagnosis(diagnosis: Diagnosis, hook: string): HTMLElement {
  const { accepted, checks } = diagnosis;
  return h('div.card',
    h('p', h('strong', formatOutcome(diagnosis)),
      ' ', accepted ? null : h('a', { href: href(['incoming', hook]) }, 'Change the webhook')),
    h('ol.log', {}, ...checks.map(({ check, status, finding }) =>
      h('li', badge(status), h('span.message', check.replaceAll('_', ' ')),
        ` ${finding}`))));
}

function formatOutcome({ accepted, failedCheck, checks }: Diagnosis): string {
  if (accepted) return 'It would be accepted.';
  const why = checks.find(({ status }) => status === 'failed')?.finding ?? 'not accepted';
  // A duplicate is answered 200, as its sender has done all that it should.
  return failedCheck === 'duplicate' ? `It would not run: ${why}.` : `It would be refused: ${why}.`;
}
