/** Fills a payload template as the service does. Pure. */

/** A value, as the template's JSON says it. Throws Error for what the service would refuse. */
export function fillPayloadTemplate(template: string, payload: unknown): unknown {
  return filled(JSON.parse(template), payload);
}

function filled(template: unknown, payload: unknown): unknown {
  if (typeof template === 'string') return filledText(template, payload);
  if (Array.isArray(template)) return template.map((item) => filled(item, payload));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) =>
    [name, filled(value, payload)]));
}

/** A string that is one placeholder becomes the value itself; `\{{` stands for `{{`. */
function filledText(text: string, payload: unknown): unknown {
  const [, whole] = /^\{\{([^{}]*)\}\}$/.exec(text) ?? [];
  if (whole !== undefined) return valueAt(whole, payload) ?? null;
  return text.replace(/\\\{\{|\{\{([^{}]*)\}\}|\{\{/g, (found, path: string | undefined) => {
    if (found.startsWith('\\')) return '{{';
    if (path === undefined) throw new Error('A placeholder is opened with {{ and not closed.');
    const value = valueAt(path, payload) ?? '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** `payload` may come first, where the payload has no member of that name. */
function valueAt(path: string, payload: unknown): unknown {
  const steps = path.split('.').map((step) => step.trim());
  if (steps.includes('')) throw new Error('A placeholder needs a path: {{ path.to.value }}.');
  if (steps[0] === 'payload' && memberOf(payload, 'payload') === undefined) steps.shift();
  return steps.reduce(memberOf, payload);
}

function memberOf(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name) : undefined;
}
