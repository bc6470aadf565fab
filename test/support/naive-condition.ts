/** Conditions evaluated the slow and obvious way, to compare with; nothing of `src` is used. */
export type NaiveFacts = {
  readonly payload: unknown;
  /** In lower case. */
  readonly headers: readonly (readonly [string, string])[];
  readonly query: readonly (readonly [string, string])[];
  readonly event: string | null;
  readonly method: string;
};

type Node = { readonly [name: string]: unknown };

const ABSENT = Symbol('absent');

export function evaluateNaively(condition: Node, facts: NaiveFacts): boolean {
  if ('all' in condition) {
    return (condition['all'] as Node[]).map((one) => evaluateNaively(one, facts))
      .filter((one) => !one).length === 0;
  }
  if ('any' in condition) {
    return (condition['any'] as Node[]).map((one) => evaluateNaively(one, facts))
      .filter((one) => one).length > 0;
  }
  if ('not' in condition) return !evaluateNaively(condition['not'] as Node, facts);
  return compare(lookUp(String(condition['path']), facts), String(condition['op']),
    condition['value']);
}

function lookUp(path: string, facts: NaiveFacts): unknown {
  const [source = '', ...steps] = path.split('.');
  const name = steps.join('.');
  const first = (pairs: NaiveFacts['query'], wanted: string): unknown =>
    pairs.filter(([one]) => one === wanted).map(([, value]) => value)[0] ?? ABSENT;
  if (source === 'event') return facts.event ?? ABSENT;
  if (source === 'method') return facts.method;
  if (source === 'query') return first(facts.query, name);
  if (source === 'headers') return first(facts.headers, name.toLowerCase());
  return steps.reduce(
    (value, step) => (membersOf(value).find(([one]) => one === step) ?? [step, ABSENT])[1],
    facts.payload);
}

function membersOf(value: unknown): (readonly [string, unknown])[] {
  if (typeof value !== 'object' || value === null) return [];
  return Array.isArray(value) ? value.map((element, index) => [String(index), element])
    : Object.entries(value);
}

function kindOf(value: unknown): string {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
}

function compare(found: unknown, op: string, value: unknown): boolean {
  const isThere = found !== ABSENT;
  if (op === 'exists') return isThere !== (value === false);
  if (!isThere) return false;
  if (op === 'in') return (value as unknown[]).some((one) => compare(found, 'eq', one));
  if (op === 'contains' && Array.isArray(found)) {
    return found.some((one) => compare(one, 'eq', value));
  }
  if (kindOf(found) !== kindOf(value)) return false;
  if (op === 'eq') return JSON.stringify(found) === JSON.stringify(value);
  if (op === 'ne') return JSON.stringify(found) !== JSON.stringify(value);
  if (['lt', 'lte', 'gt', 'gte'].includes(op)) return inOrder(found, op, value);
  if (typeof found !== 'string' || typeof value !== 'string') return false;
  const places = Array.from({ length: found.length + 1 }, (_, index) => index)
    .filter((index) => found.slice(index, index + value.length) === value);
  if (op === 'contains') return places.length > 0;
  return places.includes(op === 'prefix' ? 0 : found.length - value.length);
}

function inOrder(found: unknown, op: string, value: unknown): boolean {
  const isNumber = typeof found === 'number' && typeof value === 'number';
  const isText = typeof found === 'string' && typeof value === 'string';
  if (!isNumber && !isText) return false;
  const [smaller] = isNumber ? [found, value].sort((left, right) => left - right)
    : [found, value].sort();
  const isSame = found === value;
  if (op === 'lt') return !isSame && smaller === found;
  if (op === 'lte') return isSame || smaller === found;
  return op === 'gt' ? !isSame && smaller !== found : isSame || smaller !== found;
}
