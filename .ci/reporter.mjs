// The spec reporter of node:test, which also says before its summary how many tests were skipped,
// and why, and names places in sources. What the summary begins with is the first thing that a run
// says of all its files.
import { Readable, pipeline } from 'node:stream';
import { spec } from 'node:test/reporters';
import { withSourcePlaces } from './source-places.mjs';

const SUMMARY = /^tests \d+$/;

export default async function* report(source) {
  const printer = new spec();
  pipeline(Readable.from(withSkips(source)), printer, () => {});
  for await (const text of printer) yield withSourcePlaces(String(text));
}

async function* withSkips(source) {
  const names = new Map();
  for await (const event of source) {
    const { type, data } = event;
    if (type === 'test:pass' && data.skip !== undefined && data.skip !== false) {
      const reason = typeof data.skip === 'string' ? data.skip : 'no reason given';
      names.set(reason, [...names.get(reason) ?? [], data.name]);
    }
    if (type === 'test:diagnostic' && data.nesting === 0 && SUMMARY.test(data.message)) {
      for (const message of describe(names)) yield { type, data: { ...data, message } };
    }
    yield event;
  }
}

function describe(names) {
  const count = [...names.values()].flat().length;
  if (count === 0) return [];
  return [`${count} skipped:`, ...[...names].map(([reason, tests]) =>
    `  ${tests.length}, ${reason}: ${tests.join('; ')}`)];
}
