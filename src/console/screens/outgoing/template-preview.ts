/** Fills a payload template as the service does. Pure. */

/** Returns the filled value. Throws Error for a template that the service would reject. */
export function fillPayloadTemplate(template: string, payload: unknown): unknown {
  return fillValue(JSON.parse(template), payload);
}

function fillValue(template: unknown, payload: unknown): unknown {
  if (typeof template === 'string') return fillText(template, payload);
  if (Array.isArray(template)) return template.map((item) => fillValue(item, payload));
  if (typeof template !== 'object' || template === null) return template;
  return Object.fromEntries(Object.entries(template).map(([name, value]) =>
    [name, fillValue(value, payload)]));
}

/** A string of only one placeholder becomes the value itself; `\{{` stands for `{{`. */
function fillText(text: string, payload: unknown): unknown {
  const [, whole] = /^\{\{([^{}]*)\}\}$/.exec(text) ?? [];
  if (whole !== undefined) return resolvePath(whole, payload) ?? null;
  return text.replace(/\\\{\{|\{\{([^{}]*)\}\}|\{\{/g, (match, path: string | undefined) => {
    if (match.startsWith('\\')) return '{{';
    if (path === undefined) throw new Error('A placeholder is opened with {{ and not closed.');
    const value = resolvePath(path, payload) ?? '';
    return typeof value === 'string' ? value : JSON.stringify(value);
  });
}

/** A path may begin with `payload`, unless the payload has a member of that name. */
function resolvePath(path: string, payload: unknown): unknown {
  const steps = path.split('.').map((step) => step.trim());
  if (steps.includes('')) throw new Error('A placeholder needs a path: {{ path.to.value }}.');
  if (steps[0] === 'payload' && getMember(payload, 'payload') === undefined) steps.shift();
  return steps.reduce(getMember, payload);
}

function getMember(value: unknown, name: string): unknown {
  return typeof value === 'object' && value !== null && Object.hasOwn(value, name)
    ? Reflect.get(value, name) : undefined;
}
