/** What a template makes of a sample event, as the service would fill it. */
import { fill, h } from '../../base/dom.ts';
import { messageOf } from '../../base/api.ts';

const SAMPLE = '{"type":"book.created","data":{"book":{"title":"Emma"}}}';
const PLACEHOLDER = /\{\{\s*([^{}]*?)\s*\}\}/g;

/** `read` gives the form's members as they are now. */
export function previewPart(read: () => Record<string, unknown>): HTMLElement {
  const sample = h('textarea', { id: 'sample', rows: 3, class: 'mono', spellcheck: 'false' });
  sample.value = SAMPLE;
  const place = h('div', { role: 'status' });
  const show = (): void => {
    try {
      const { payloadTemplate } = read();
      const payload: unknown = JSON.parse(sample.value);
      const body = payloadTemplate === undefined ? payload
        : filled(JSON.parse(String(payloadTemplate)), payload);
      fill(place, h('pre', {}, JSON.stringify(body, null, 2)));
    } catch (thrown) {
      fill(place, h('p', { class: 'problem' }, messageOf(thrown)));
    }
  };
  return h('section', {}, h('h2', {}, 'Preview'), h('div', { class: 'field' },
    h('label', { for: 'sample' }, 'A sample event'), sample),
  h('button', { type: 'button', onclick: show }, 'Show what would be sent'), place);
}

function filled(template: unknown, payload: unknown): unknown {
  if (typeof template === 'string') return filledText(template, payload);
  if (Array.isArray(template)) return template.map((item) => filled(item, payload));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) =>
    [name, filled(value, payload)]));
}

/** A string that is one placeholder becomes the value itself. */
function filledText(text: string, payload: unknown): unknown {
  const whole = /^\{\{\s*([^{}]*?)\s*\}\}$/.exec(text)?.[1];
  if (whole !== undefined) return valueAt(whole, payload) ?? null;
  return text.replace(PLACEHOLDER, (_, path: string) => {
    const value = valueAt(path, payload);
    if (value === undefined || value === null) return '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

function valueAt(path: string, payload: unknown): unknown {
  let value: unknown = payload;
  for (const step of path.replace(/^payload(\.|$)/, '').split('.')) {
    if (step === '') continue;
    if (typeof value !== 'object' || value === null) return undefined;
    if (!Object.hasOwn(value, step)) return undefined;
    value = Reflect.get(value, step);
  }
  return value;
}
