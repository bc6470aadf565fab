/** Faults of the catalog. */
import type { PlantedFault } from './fault.ts';

const MODEL: readonly PlantedFault[] = [
  {
    file: 'books/isbn.ts', text: '(10 - sum % 10) % 10', replacement: '10 - sum % 10',
    tests: ['books/isbn.test.ts'],
  },
  {
    file: 'books/transfer/matching/store-record.ts',
    text: "return onMatch === 'update' && isSameId && match === null;",
    replacement: 'return false;',
    tests: ['books/catalog.test.ts'],
  },
];

const MATCHING_ROOM = 'books/transfer/matching';

const MATCHING: readonly PlantedFault[] = [
  {
    file: `${MATCHING_ROOM}/match-index.ts`,
    text: 'collection.onChange(({ after }, slot) => this.#set(slot, after));',
    replacement: 'collection.onChange(() => {});', tests: [`${MATCHING_ROOM}/property.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/match-index.ts`,
    text: ' || this.keys.readStored(bytes) !== key', replacement: '',
    tests: [`${MATCHING_ROOM}/catalog-import.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/book-staging.ts`,
    text: 'if (!over.has(id)) yield id;', replacement: 'yield id;',
    tests: [`${MATCHING_ROOM}/property.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/book-staging.ts`,
    text: '    this.#staged?.put(id, bytes);', replacement: '',
    tests: [`${MATCHING_ROOM}/property.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/staging-index.ts`, text: '    this.#forget(id);', replacement: '',
    tests: [`${MATCHING_ROOM}/catalog-import.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/catalog-import.ts`,
    text: ' || this.#batchesUnderWay > 0', replacement: '',
    tests: [`${MATCHING_ROOM}/catalog-import.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/book-marks.ts`,
    text: 'if (after === null) this.#slots.delete(slot);', replacement: 'void [after, slot];',
    tests: [`${MATCHING_ROOM}/catalog-import.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/book-marks.ts`, text: 'if (isStored) for', replacement: 'for',
    tests: [`${MATCHING_ROOM}/catalog-import.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/store-record.ts`,
    text: ' || isDeepStrictEqual(JSON.parse(text), members);', replacement: ' && false;',
    tests: [`${MATCHING_ROOM}/catalog-import.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/merge-record.ts`,
    text: 'return value !== createStandInTitle(String(record[\'isbn\']));',
    replacement: 'return true;', tests: [`${MATCHING_ROOM}/merge-record.test.ts`],
  },
  {
    file: `${MATCHING_ROOM}/merge-record.ts`,
    text: '{ ...source, [format]: placed }', replacement: '{ [format]: placed }',
    tests: [`${MATCHING_ROOM}/merge-record.test.ts`],
  },
  {
    file: 'books/transfer/mapping/fit-fields.ts',
    text: 'growth: bytes - bytesStored', replacement: 'growth: bytes',
    tests: [`${MATCHING_ROOM}/merge-record.test.ts`],
  },
  {
    file: 'books/transfer/mapping/fit-fields.ts',
    text: '    || Number(left.isOwnId) - Number(right.isOwnId)', replacement: '',
    tests: [`${MATCHING_ROOM}/merge-record.test.ts`],
  },
  {
    file: 'books/transfer/grammars/nested-json.ts',
    text: '    if (this.#waitingBytes > WAITING_BYTES_MAX) this.release(nodes);', replacement: '',
    tests: ['books/transfer/grammars/nested-json.test.ts'],
  },
  {
    file: 'books/transfer/sources/jsonld-node.ts',
    text: 'const ownName = isMistakable ? terms.expand(name) : name;',
    replacement: 'const ownName = name;', tests: ['books/transfer/sources/jsonld.test.ts'],
  },
  {
    file: 'books/transfer/sources/jsonld-writer.ts',
    text: 'known !== null && isProperty(known)', replacement: 'known !== null',
    tests: ['books/transfer/sources/jsonld.test.ts'],
  },
  {
    file: 'server/accept.ts', text: 'const rank = [weight, precision, -index];',
    replacement: 'const rank = [weight];', tests: ['books/book-formats.test.ts'],
  },
  {
    file: 'books/transfer/select-format.ts',
    text: '&& !PARTIAL_FORMATS.includes(name)', replacement: '&& false',
    tests: ['books/book-formats.test.ts'],
  },
  {
    file: `${MATCHING_ROOM}/slot-chains.ts`,
    text: '        this.#unlinkFrom(divided, slot);', replacement: '',
    tests: [`${MATCHING_ROOM}/slot-chains.test.ts`],
  },
];

const AGGREGATES: readonly PlantedFault[] = [
  {
    file: 'books/aggregates/duplicates.ts',
    text: 'positionsByKey.set(key, group);', replacement: "positionsByKey.set('', group);",
    tests: ['books/aggregates/duplicates.test.ts'],
  },
  {
    file: 'books/aggregates/duplicates.ts', text: 'changes.keepUntilTaken(slot);',
    replacement: '', tests: ['books/aggregates/duplicates.test.ts'],
  },
  {
    file: 'books/engine/date-column.ts', text: '      else slots.delete(slot);', replacement: '',
    tests: ['books/engine/columns.test.ts'],
  },
  {
    file: 'books/aggregates/suggestions.ts', text: '.startsWith(beginning)',
    replacement: '.includes(beginning)', tests: ['books/aggregates/suggestions.test.ts'],
  },
  {
    file: 'books/aggregates/facets.ts', text: 'if (failures.length > 1) return;', replacement: '',
    tests: ['books/aggregates/facets.test.ts'],
  },
  {
    file: 'books/aggregates/value-counts.ts', text: 'keys.has(key) ? 0 : 1', replacement: '1',
    tests: ['books/aggregates/facets.test.ts'],
  },
  {
    file: 'books/aggregates/value-counts.ts',
    text: 'this.#pendingShares.push({ divisor: divisor * 2, remainder: remainder + divisor });',
    replacement: '',
    tests: ['books/aggregates/value-counts.test.ts'],
  },
];

const QUERIES: readonly PlantedFault[] = [
  {
    file: 'books/query/cursor.ts',
    text: 'if (ownerFingerprint !== fingerprint) {',
    replacement: 'if (ownerFingerprint === null) {',
    tests: ['books/query/cursor.test.ts'],
  },
  {
    file: 'books/query/cursor.ts',
    text: '{ maxOutputLength: JSON_BYTES_MAX }', replacement: '{}',
    tests: ['books/query/cursor.test.ts'],
  },
  {
    file: 'books/query/sort-keys.ts',
    text: 'if (left === null) return 1;',
    replacement: 'if (left === null) return isDescending ? -1 : 1;',
    tests: ['books/list/property.test.ts'],
  },
  {
    file: 'books/query/author-key.ts', text: 'if (!isAddition) return', replacement: 'return',
    tests: ['books/query/author-key.test.ts'],
  },
  {
    file: 'books/query/book-sort.ts', text: 'else if (idOrder === null) ', replacement: 'else ',
    tests: ['books/query/parse-query.test.ts'],
  },
  {
    file: 'books/query/match-book.ts',
    text: 'if (hasKeyword(bookKeywords, excludedKeywords)) return false;', replacement: '',
    tests: ['books/list/text-filter.test.ts'],
  },
  {
    file: 'books/query/select-members.ts',
    text: 'new Set([ID, ...text.split(', replacement: 'new Set([...text.split(',
    tests: ['books/query/parse-query.test.ts'],
  },
  {
    file: 'books/query/stored-fields.ts',
    text: 'return metadata >= 0 && metadata < nameStart ? -1 : nameStart + name.length;',
    replacement: 'return nameStart + name.length;',
    tests: ['books/query/stored-fields.test.ts'],
  },
  {
    file: 'books/query/words.ts', text: 'if (clauses.size > CLAUSES_MAX) ',
    replacement: 'if (clauses.size < 0) ',
    tests: ['books/query/parse-query.test.ts'],
  },
  {
    file: 'base/text/words.ts', text: ' || run.text.length > CUT_LENGTH_MAX', replacement: '',
    tests: ['books/query/words.test.ts'],
  },
];

const TYPOS: readonly PlantedFault[] = [
  {
    file: 'base/text/edit-distance.ts', text: 'return isSwap ?',
    replacement: 'return false && isSwap ?',
    tests: ['base/text/edit-distance.test.ts', 'books/list/typos.test.ts'],
  },
  {
    file: 'books/index/find-corrections.ts',
    text: 'intersect(places.words, segment.live.words);', replacement: '',
    tests: ['books/list/typos.test.ts'],
  },
  {
    file: 'books/index/find-corrections.ts', text: '!live.has(document) || ', replacement: '',
    tests: ['books/list/typos.test.ts'],
  },
  {
    file: 'books/index/find-corrections.ts', text: ' || right.bookCount - left.bookCount',
    replacement: '', tests: ['books/list/typos.test.ts'],
  },
  {
    file: 'books/index/find-corrections.ts', text: 'terms: [...others, term]',
    replacement: 'terms: [term]', tests: ['books/list/typos.test.ts'],
  },
  {
    file: 'base/text/edit-distance.ts', text: 'this.#letterCount = depth;\n',
    replacement: '\n',
    tests: ['base/text/edit-distance.test.ts', 'books/list/typos.test.ts'],
  },
  {
    file: 'books/list/search-books.ts',
    text: 'if (hasBookWord(book, word)) corrections.delete(word);', replacement: '',
    tests: ['books/list/typos.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: "return this.#isFirstBuild ? 'making' : 'ready';", replacement: "return 'ready';",
    tests: ['books/index/bounded-word-index.test.ts'],
  },
  {
    file: 'books/list/book-list.ts', text: 'deps.checkExplainer(exchange);', replacement: '',
    tests: ['books/list/book-list.test.ts'],
  },
  {
    file: 'access/token-verifier.ts', text: 'if (!isControl && verifier.isRequired) checkToken',
    replacement: 'if (verifier.isRequired) checkToken', tests: ['access/guard.test.ts'],
  },
  {
    file: 'books/list/search-books.ts',
    text: '    mayCorrect &&= scan.isEmpty(scanned);\n', replacement: '',
    tests: ['books/list/partial-index.test.ts'],
  },
  {
    file: 'books/query/parse-query.ts', text: 'mayCorrect: correctsTypos && cursor === null',
    replacement: 'mayCorrect: correctsTypos', tests: ['books/list/typos.test.ts'],
  },
  {
    file: 'books/query/corrections.ts', text: '|| !correctable.includes(word)', replacement: '',
    tests: ['books/query/cursor.test.ts'],
  },
];

const LISTS: readonly PlantedFault[] = [
  {
    file: 'books/list/scan.ts', text: 'if (ids.has(id)) continue;', replacement: '',
    tests: ['books/list/race.test.ts'],
  },
  {
    file: 'books/list/book-list.ts', text: '  if (isInIdOrder) return;', replacement: '  return;',
    tests: ['books/book-formats.test.ts'],
  },
  {
    file: 'books/list/book-list.ts',
    text: ' && query.fields === null;', replacement: ';',
    tests: ['books/list/book-list.test.ts'],
  },
  {
    file: 'books/list/scan.ts',
    text: 'const walk = collection.walk({ isDescending: sort.isIdDescending });\n  const filter',
    replacement: 'const walk = collection.walk();\n  const filter',
    tests: ['books/list/book-list.test.ts'],
  },
  {
    file: 'books/list/sort-columns.ts',
    text: 'key === null ? NO_KEY : text.length', replacement: 'text.length',
    tests: ['base/structures/merge-sort.test.ts'],
  },
  {
    file: 'books/list/slot-filter.ts',
    text: ' && !changes.changedSlots.has(slot)', replacement: '',
    tests: ['books/list/race.test.ts'],
  },
  {
    file: 'books/list/slot-filter.ts',
    text: '\n        && candidates.unindexed?.has(slot) !== true', replacement: '',
    tests: ['books/list/partial-index.test.ts'],
  },
  {
    file: 'books/list/text-filter.ts',
    text: ': !isLetterOrDigit(this.#text.charCodeAt(at - 1));', replacement: ': true;',
    tests: ['books/list/text-filter.test.ts'],
  },
  {
    file: 'books/list/text-filter.ts',
    text: 'const isDone = isPlainBook\n      && ', replacement: 'const isDone = ',
    tests: ['books/list/text-filter.test.ts'],
  },
  {
    file: 'books/list/concurrent-changes.ts',
    text: 'if (this.#copiedBytes + before.length > COPIED_BYTES_MAX) return;', replacement: '',
    tests: ['books/list/concurrent-changes.test.ts'],
  },
  {
    file: 'books/list/concurrent-changes.ts',
    text: 'this.#copiedBytes -= bytes?.length ?? 0;', replacement: '',
    tests: ['books/list/concurrent-changes.test.ts'],
  },
  {
    file: 'books/list/whole-catalog-cache.ts',
    text: '    this.#buffer = null;\n', replacement: '',
    tests: ['books/list/book-list.test.ts'],
  },
];

const INDEX: readonly PlantedFault[] = [
  {
    file: 'books/query/words.ts',
    text: 'corrections?.get(token.text) ?? token.text', replacement: 'token.text',
    tests: ['books/aggregates/corrections.test.ts'],
  },
  {
    file: 'books/aggregates/facets.ts',
    text: "parseTypos(values.get('typos')?.[0] ?? 'on')", replacement: 'true',
    tests: ['books/aggregates/corrections.test.ts'],
  },
  {
    file: 'books/index/search-plan.ts',
    text: 'subtract(matches, yield* intersectPlaces(', replacement: 'void (yield* intersectPlaces(',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/search-plan.ts',
    text: 'subtract(matches.words, yield* intersectDocuments(',
    replacement: 'void (yield* intersectDocuments(',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/search-plan.ts',
    text: 'isExact &&= expansions', replacement: 'isExact = expansions',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/search-plan.ts',
    text: '      isExact = false;\n', replacement: '',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: 'if (this.#pendingCount === 0 || !isWanted()) return;', replacement: 'return;',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: 'if (this.bytes > this.#bytesMax) this.#dropAll();',
    replacement: 'if (this.bytes < 0) this.#dropAll();',
    tests: ['books/index/bounded-word-index.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: 'if (unindexed !== null) slots.union(unindexed);', replacement: '',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: 'this.#pendingSlots.copy()', replacement: 'this.#pendingSlots',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: 'for (const slot of changes.changedSlots) slots.add(slot);', replacement: '',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/word-index.ts',
    text: 'if (!this.#memtable.remove(slot)) this.#segments.remove(slot);', replacement: '',
    tests: ['books/index/word-index.test.ts'],
  },
  {
    file: 'books/index/merge-segments.ts',
    text: 'if (!isRising) places.subarray(0, count).sort();', replacement: '',
    tests: ['books/index/merge-segments.test.ts'],
  },
  {
    file: 'books/index/flush-memtable.ts',
    text: 'if (!live.has(document)) continue;', replacement: '',
    tests: ['books/index/word-index.test.ts'],
  },
];

const ENGINE: readonly PlantedFault[] = [
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'for (const slot of this.#pending.keys()) missedSlots.add(slot);', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'if (isSorting) missedSlots.add(slot);', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'if (this.#pending.has(slot)) return;', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'if (copy !== undefined) return copy ?? undefined;', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'this.#copiedBytes -= known?.length ?? 0;', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: ' || this.#copiedBytes > COPIED_BYTES_MAX', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'if (usedMs >= (least?.usedMs ?? beforeMs)) continue;',
    replacement: 'if (usedMs >= beforeMs || usedMs < (least?.usedMs ?? 0)) continue;',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'if (entry.usedMs >= beforeMs) bytesInUse', replacement: 'bytesInUse',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: 'this.#nowMs() - IN_USE_MS', replacement: 'this.#nowMs()',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/catalog-indexes.ts',
    text: '    this.#pending.clear();\n', replacement: '',
    tests: ['books/engine/catalog-indexes.test.ts'],
  },
  {
    file: 'books/engine/planner.ts',
    text: 'if (sortLooks <= walkLooks) {', replacement: 'if (sortLooks < walkLooks) {',
    tests: ['books/engine/planner.test.ts'],
  },
  {
    file: 'books/engine/planner.ts',
    text: 'sortLooks < bookCount - looksMax', replacement: 'sortLooks < bookCount',
    tests: ['books/engine/planner.test.ts'],
  },
  {
    file: 'books/list/index-search.ts',
    text: 'const atStart = new Set(indexes.pendingSlots.keys());',
    replacement: 'const atStart = new Set<number>();',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/index-search.ts',
    text: '    atStart.add(slot);\n', replacement: '',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/index-search.ts',
    text: ' || this.#changes.changedSlots.has(slot);', replacement: ';',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/index-search.ts',
    text: 'common.retain(set)', replacement: 'common.union(set)',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/index-search.ts',
    text: 'return order !== null && !indexes.keepsOrder(order);', replacement: 'return false;',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/index-search.ts',
    text: 'id: furtherOrders.length === 0 ? after.id : null', replacement: 'id: after.id',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: 'if (top.sorted().some(({ slot }) => changes.changedSlots.has(slot))) return null;',
    replacement: '',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: 'if (slots.has(slot) && !atStart.has(slot)) count -= 1;',
    replacement: 'if (slots.has(slot)) count -= 1;',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: 'while (takenCount < wantedCount || hasFurtherKeys) {',
    replacement: 'while (takenCount < wantedCount) {',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: '    else unsettledMatches.delete(slot);\n', replacement: '',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: 'if (walk.reads > plan.looksMax) return \'left\';', replacement: '',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: 'if (changes.changedSlots.size > CHANGED_MAX) return NEEDS_SCAN;', replacement: '',
    tests: ['books/list/answer-page.test.ts'],
  },
  {
    file: 'books/list/answer-page.ts',
    text: '    readCount += 1;\n    if (readCount % BOOKS_PER_YIELD === 0) yield;\n    // One that',
    replacement: '    // One that',
    tests: ['books/list/turns.test.ts'],
  },
  {
    file: 'books/list/answer-whole.ts',
    text: 'if (count % SLOTS_PER_YIELD === 0) yield;', replacement: '',
    tests: ['books/list/turns.test.ts'],
  },
];

const TRANSFERS: readonly PlantedFault[] = [
  {
    file: 'books/transfer/importer.ts',
    text: "if (thrown.code === 'too_large') ", replacement: "if (thrown.code === 'exists') ",
    tests: ['books/transfer/importer.test.ts'],
  },
  {
    file: 'books/transfer/importer.ts',
    text: "if (outcome === 'replaced') this.#replaced += 1;", replacement: '',
    tests: ['books/transfer/import.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: 'this.#firstEncoding === null ? this.#begin() + lines : lines', replacement: 'lines',
    tests: ['books/transfer/import.test.ts'],
  },
  {
    file: 'books/transfer/decode-text.ts',
    text: 'if (!isEnd && offset + length > bytes.length) return this.#hold(bytes, offset);',
    replacement: '', tests: ['books/transfer/decode-text.test.ts'],
  },
  {
    file: 'books/transfer/decode-text.ts',
    text: 'if (!isEnd && end > 0 && this.#isHighSurrogate(bytes, end - 2)) end -= 2;',
    replacement: '', tests: ['books/transfer/decode-text.test.ts'],
  },
  {
    file: 'books/transfer/recognise-format.ts',
    text: 'if (found.length > 1) throw createAmbiguity(found);', replacement: '',
    tests: ['books/transfer/recognise-format.test.ts'],
  },
  {
    file: 'books/transfer/importer.ts',
    text: 'lines[lineIndexes[index] ?? 0] = line;', replacement: 'lines[index] = line;',
    tests: ['books/transfer/import.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: 'this.#batchesInFlight >= BATCHES_IN_FLIGHT_MAX',
    replacement: 'this.#batchesInFlight < 0',
    tests: ['books/transfer/import-run.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: 'this.#responseBytes > RESPONSE_BYTES_HELD_MAX', replacement: 'this.#responseBytes < 0',
    tests: ['books/transfer/import-run.test.ts'],
  },
  {
    file: 'books/transfer/book-file.ts',
    text: '        await nextTurn();\n', replacement: '',
    tests: ['books/transfer/book-file.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: '    await file.close();\n    throw thrown;', replacement: '    throw thrown;',
    tests: ['books/transfer/import-run.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: '      && this.#bug === null) {', replacement: ') {',
    tests: ['books/transfer/import-run.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: '      await nextTurn();\n', replacement: '',
    tests: ['books/transfer/import-run.test.ts'],
  },
  {
    file: 'books/transfer/import.ts',
    text: 'Promise.allSettled([batch, before])', replacement: 'Promise.allSettled([batch])',
    tests: ['books/transfer/import-run.test.ts'],
  },
  {
    file: 'books/transfer/csv-rows.ts',
    text: "`\"${text.replaceAll('\"', '\"\"')}\"`", replacement: '`"${text}"`',
    tests: ['books/transfer/csv.test.ts'],
  },
  {
    file: 'books/transfer/csv.ts',
    text: ' && !/;|^[[{]/.test(author.name)', replacement: '',
    tests: ['books/transfer/csv.test.ts'],
  },
  {
    file: 'books/transfer/csv-rows.ts',
    text: "const text = row.replace(QUOTED_CELL, '');",
    replacement: 'const text = row;',
    tests: ['books/transfer/csv.test.ts'],
  },
  {
    file: 'books/transfer/csv-rows.ts',
    text: 'if (cells.length === CELLS_MAX)',
    replacement: 'if (cells.length < 0)',
    tests: ['books/transfer/csv.test.ts'],
  },
  {
    file: 'books/transfer/formula-guard.ts',
    text: 'const needsGuard = GUARDED_TEXT.test(text) || ',
    replacement: 'const needsGuard = ',
    tests: ['books/transfer/csv.test.ts'],
  },
  {
    file: 'books/transfer/grammars/delimited-text.ts',
    text: 'while (fields.has(name)) name += ` (column ${index + 1})`;',
    replacement: '',
    tests: ['books/transfer/grammars/delimited-text.test.ts'],
  },
  {
    file: 'books/transfer/mapping/name-list.ts',
    text: 'previous !== undefined && isSuffix(piece)',
    replacement: 'false',
    tests: ['books/transfer/mapping/field-text.test.ts'],
  },
  {
    file: 'books/transfer/sources/goodreads.ts',
    text: "match !== null && PLACE.test(match[1] ?? '')",
    replacement: 'match !== null',
    tests: ['books/transfer/sources/goodreads.test.ts'],
  },
  {
    file: 'books/transfer/sources/goodreads.ts',
    text: 'isEmpty: (_column, text) => text === EMPTY_FORMULA',
    replacement: 'isEmpty: () => false',
    tests: ['books/transfer/sources/goodreads.test.ts'],
  },
  {
    file: 'books/transfer/sources/storygraph.ts',
    text: 'if (isAuthorRole(role.trim()))',
    replacement: "if (role !== '')",
    tests: ['books/transfer/sources/storygraph.test.ts'],
  },
  {
    file: 'books/transfer/sources/calibre.ts',
    text: 'if (count === 1) return [authors];\n',
    replacement: '',
    tests: ['books/transfer/sources/calibre.test.ts'],
  },
  {
    file: 'books/transfer/sources/calibre.ts',
    text: '(?:0101-01-01|0100-12-31)',
    replacement: '(?:0101-01-01)',
    tests: ['books/transfer/sources/calibre.test.ts'],
  },
  {
    file: 'books/transfer/sources/librarything.ts',
    text: 'colon < 0 ? start : start.slice(colon + 3)',
    replacement: 'start',
    tests: ['books/transfer/sources/librarything.test.ts'],
  },
  {
    file: 'books/transfer/sources/librarything.ts',
    text: 'index === 0 || isAuthor(role)',
    replacement: 'true || index > 0 || role',
    tests: ['books/transfer/sources/librarything.test.ts'],
  },
  {
    file: 'books/transfer/sources/isbn-list.ts',
    text: " || text.startsWith('#')",
    replacement: '',
    tests: ['books/transfer/sources/isbn-list.test.ts'],
  },
  {
    file: 'books/transfer/record-splitter.ts',
    text: 'if (this.isTooLong) this.#collector.clear();\n    else ', replacement: '',
    tests: ['books/transfer/record-memory.test.ts'],
  },
  {
    file: 'books/transfer/json-splitter.ts',
    text: 'if (this.#closers.length > DEPTH_MAX) ', replacement: 'if (this.#closers.length < 0) ',
    tests: ['books/transfer/formats.test.ts'],
  },
  {
    file: 'books/transfer/grammars/ris.ts', text: ' && this.#isAfterReturn', replacement: '',
    tests: ['books/transfer/grammars/ris.test.ts'],
  },
  {
    file: 'books/transfer/mapping/write-record.ts',
    text: '    if (!isKept) return false;', replacement: '',
    tests: ['books/transfer/sources/ris.test.ts'],
  },
  {
    file: 'books/transfer/mapping/map-record.ts',
    text: '  if (addUnseen(table, record.fields, body, [...members])) return;', replacement: '',
    tests: ['books/transfer/sources/csl.test.ts'],
  },
  {
    file: 'books/transfer/mapping/accept-member.ts',
    text: 'Object.hasOwn(bookSchema.members, member)', replacement: 'true',
    tests: ['books/transfer/mapping/accept-member.test.ts'],
  },
  {
    file: 'books/transfer/sources/csl.ts',
    text: 'if (isCslMember(name, value)) item', replacement: 'if (name.length > 6) item',
    tests: ['books/transfer/sources/csl.test.ts'],
  },
  {
    file: 'books/transfer/grammars/bibtex-scanner.ts', text: 'return isAtLineStart && isSwallowed;',
    replacement: 'return isAtLineStart;',
    tests: ['books/transfer/grammars/bibtex.test.ts'],
  },
  {
    file: 'books/transfer/grammars/bibtex-parents.ts',
    text: '? lastParent : this.#remembered.get(key)',
    replacement: '? this.#remembered.get(key) : this.#remembered.get(key)',
    tests: ['books/transfer/grammars/bibtex.test.ts'],
  },
  {
    file: 'books/transfer/grammars/latex.ts', text: "this.#offset += char === '\\\\' ? 2 : 1;",
    replacement: 'this.#offset += 1;', tests: ['books/transfer/grammars/latex.test.ts'],
  },
  {
    file: 'books/transfer/sources/bibtex-keys.ts', text: 'key.toLowerCase()', replacement: 'key',
    tests: ['books/transfer/sources/bibtex-keys.test.ts'],
  },
];

export const BOOK_FAULTS: readonly PlantedFault[] =
  [...MODEL, ...MATCHING, ...AGGREGATES, ...QUERIES, ...TYPOS, ...LISTS, ...INDEX, ...ENGINE,
    ...TRANSFERS];
