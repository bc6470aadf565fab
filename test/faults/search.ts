/** Faults of searches: of words and conditions, of what a record is searched in, and of pages. */
import type { PlantedFault } from './fault.ts';

const WORDS: readonly PlantedFault[] = [
  {
    file: 'webhooks/search/search-words.ts',
    text: 'const folded = fold(text);', replacement: 'const folded = text;',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'base/text/words.ts',
    text: 'token.text.startsWith(word.text)', replacement: 'token.text === word.text',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'base/text/words.ts',
    text: 'token.text.startsWith(word.text)', replacement: 'token.text.endsWith(word.text)',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/search-words.ts',
    text: 'text.length >= ID_WORD_LENGTH_MIN && ', replacement: '',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/search/payload-texts.ts',
    text: 'if (!isName(json, end)) yield*', replacement: 'yield*',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/payload-texts.ts',
    text: "json.includes('\\\\') ? String(JSON.parse(json)) : json.slice(1, -1)",
    replacement: 'json.slice(1, -1)',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/byte-filter.ts',
    text: 'const marks = [ESCAPE, ENCODED_BODY,', replacement: 'const marks = [ENCODED_BODY,',
    tests: ['webhooks/search/search.test.ts'],
  },
];

const CONDITIONS: readonly PlantedFault[] = [
  {
    file: 'webhooks/search/search-query.ts',
    text: 'return predicates.every((predicate) => predicate(facts));', replacement: 'return true;',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/search-query.ts',
    text: 'conditions.map((condition)', replacement: 'conditions.slice(0, 1).map((condition)',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/where-parameter.ts',
    text: `if (text.startsWith('"')) {`, replacement: 'if (false) {',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/where-parameter.ts',
    text: "'~': 'contains'", replacement: "'~': 'prefix'",
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/where-parameter.ts',
    text: "if (op !== 'ne' || value !== null) return comparison;",
    replacement: 'return comparison;',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/where-parameter.ts',
    text: 'texts.length > WHERE_MAX)', replacement: 'texts.length > WHERE_MAX + 1)',
    tests: ['webhooks/search/delivery-search.test.ts'],
  },
  {
    file: 'webhooks/search/where-parameter.ts',
    text: 'texts.length > WHERE_MAX)', replacement: 'texts.length >= WHERE_MAX)',
    tests: ['webhooks/search/delivery-search.test.ts'],
  },
];

const RECORDS: readonly PlantedFault[] = [
  {
    file: 'webhooks/inbox/request-search.ts',
    text: 'value === MASK || signatures.includes(name.toLowerCase())',
    replacement: 'value === MASK',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: 'value === MASK || signatures.includes(name.toLowerCase())',
    replacement: 'signatures.includes(name.toLowerCase())',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: 'return !isHidden(decodePercent(name), value);', replacement: 'return true;',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: 'return [this.#readHead().id];', replacement: 'return [];',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: 'return [this.#request.id];', replacement: 'return [];',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: '  yield path;\n', replacement: '',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: '  if (event !== null) yield event;\n', replacement: '',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: '  if (eventId !== null) yield eventId;\n', replacement: '',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/inbox/request-search.ts',
    text: 'if (id < rejected.id) {', replacement: 'if (false) {',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/events/event-search.ts',
    text: 'return name === null ? [] : [name];', replacement: 'return [];',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/deliveries/searched-event.ts',
    text: 'return decodeForward(eventRecord).body;', replacement: 'return null;',
    tests: ['webhooks/search/delivery-search.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-search.ts',
    text: 'events.findBytes(readEventId(bytes)) : bytes;',
    replacement: 'events.findBytes(readEventId(bytes)) : undefined;',
    tests: ['webhooks/search/delivery-search.test.ts'],
  },
  {
    file: 'webhooks/deliveries/delivery-search.ts',
    text: 'return [identifier, eventId];', replacement: 'return [identifier];',
    tests: ['webhooks/search/delivery-search.test.ts'],
  },
];

const PAGES: readonly PlantedFault[] = [
  {
    file: 'webhooks/search/searches.ts', text: 'isMatch && walk.isStillListed()',
    replacement: 'isMatch', tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/searches.ts',
    text: 'if (isOver()) return { items, stoppedAt: walk.position() };', replacement: '',
    tests: ['webhooks/search/searches.test.ts'],
  },
  {
    file: 'webhooks/search/searches.ts',
    text: 'walk.next() === null ? null : position', replacement: 'position',
    tests: ['webhooks/search/searches.test.ts'],
  },
  {
    file: 'webhooks/search/searches.ts',
    text: 'const position = walk.position();\n  return { items, stoppedAt: walk.next() === null',
    replacement: 'const next = walk.next();\n  const position = walk.position();\n'
      + '  return { items, stoppedAt: next === null',
    tests: ['webhooks/search/searches.test.ts'],
  },
  {
    file: 'webhooks/search/searches.ts',
    text: 'this.#running >= RUNNING_MAX', replacement: 'this.#running > RUNNING_MAX',
    tests: ['webhooks/search/searches.test.ts'],
  },
  {
    file: 'webhooks/search/searches.ts',
    text: 'this.#running -= 1;', replacement: '',
    tests: ['webhooks/search/searches.test.ts'],
  },
  {
    file: 'webhooks/search/searchable-list.ts',
    text: 'if (stoppedAt !== null) {',
    replacement: 'if (stoppedAt !== null && page.items.length > 0) {',
    tests: ['webhooks/search/searchable-list.test.ts'],
  },
  {
    file: 'webhooks/search/searchable-list.ts',
    text: 'String(stoppedAt === null)', replacement: 'String(page.items.length < limit)',
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/searchable-list.ts',
    text: "'X-Search-Until', stoppedAt.at,", replacement: "'X-Search-Until', stoppedAt.id,",
    tests: ['webhooks/search/search.test.ts'],
  },
  {
    file: 'webhooks/search/searchable-list.ts',
    text: 'listQuery.limit ?? PAGE_ITEMS', replacement: 'listQuery.limit ?? 1000',
    tests: ['webhooks/events/event-routes.test.ts'],
  },
  {
    file: 'webhooks/search/searchable-list.ts',
    text: '[...listQuery.parameters, ...search.parameters]', replacement: 'listQuery.parameters',
    tests: ['webhooks/search/search.test.ts'],
  },
];

export const SEARCH_FAULTS: readonly PlantedFault[] = [
  ...WORDS, ...CONDITIONS, ...RECORDS, ...PAGES,
];
