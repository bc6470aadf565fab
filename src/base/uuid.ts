/**
 * UUIDv7 (RFC 9562 §5.7): 48 bits of Unix milliseconds, then a counter in rand_a and the top of
 * rand_b (§6.2 method 1), then random bits. Ids of one source rise strictly, within a millisecond
 * and when the clock steps back.
 */
import type { Clock } from './clock.ts';
import { loadCrypto } from './node-modules.ts';

export type IdSource = () => string;

export type AdvancingIdSource = IdSource & {
  /** Makes all further ids sort after `id`, a UUIDv7, and after those derived from it. */
  readonly advancePast: (id: string) => void;
};

// Six bytes of each id are random; four more start the counter of a millisecond.
const RANDOM_ID_BYTES = 6;
const RANDOM_BYTES_PER_ID = 10;
const RANDOM_POOL_BYTES = RANDOM_BYTES_PER_ID * 512;
// 12 bits of rand_a and 14 bits of rand_b: started at random below half, so that there is always
// room to count within a millisecond.
const COUNTER_MAX = 2 ** 26 - 1;
const COUNTER_START_MAX = 2 ** 25;
// A derived id counts on in the random bytes at the end of its seed.
const TAIL_DIGITS = RANDOM_ID_BYTES * 2;
const TAIL_START_MAX = 2 ** (RANDOM_ID_BYTES * 8 - 1);
const UUID_PATTERN = /^[0-9a-f]{8}-[0-9a-f]{4}-[1-8][0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/;

/** A source of rising UUIDv7 strings. `fillRandom` fills the buffer it is given. */
export function createIdSource(
  clock: Pick<Clock, 'now'>,
  fillRandom: (pool: Buffer) => void = (pool) => loadCrypto().randomFillSync(pool),
): AdvancingIdSource {
  const pool = Buffer.allocUnsafe(RANDOM_POOL_BYTES);
  let poolOffset = RANDOM_POOL_BYTES;
  let lastMs = -1;
  let counter = 0;
  const text = Buffer.from('00000000-0000-7000-8000-000000000000');

  const next = (): string => {
    if (poolOffset === RANDOM_POOL_BYTES) {
      fillRandom(pool);
      poolOffset = 0;
    }
    const offset = poolOffset;
    poolOffset += RANDOM_BYTES_PER_ID;
    const nowMs = clock.now();
    if (nowMs > lastMs || counter === COUNTER_MAX) {
      lastMs = Math.max(nowMs, lastMs + 1);
      text.write(formatUuidTime(lastMs), 'latin1');
      counter = pool.readUInt32LE(offset + RANDOM_ID_BYTES) % COUNTER_START_MAX;
    } else {
      counter += 1;
    }
    writeHex(text, RAND_A_END, 0x7000 | (counter >>> 14), 4);
    writeHex(text, RAND_B_END, 0x8000 | (counter & 0x3fff), 4);
    for (let index = 0; index < RANDOM_ID_BYTES; index += 1) {
      writeHex(text, RANDOM_START + 2 * index + 2, pool[offset + index] ?? 0, 2);
    }
    // Made in one piece: a string joined of several takes 0.2 µs longer for each record.
    return text.toString('latin1');
  };

  return Object.assign(next, {
    advancePast(id: string): void {
      const isPassed = id.slice(0, RANDOM_START) <= text.toString('latin1', 0, RANDOM_START);
      if (isPassed || !isUuid(id)) return;
      lastMs = timeOfUuidV7(id);
      counter = Number.parseInt(id.slice(RAND_A_END - 3, RAND_A_END), 16) * 2 ** 14
        + (Number.parseInt(id.slice(RAND_B_END - 4, RAND_B_END), 16) & 0x3fff);
      text.write(id, 0, RANDOM_START, 'latin1');
    },
  });
}

// Offsets in the text of an id: the ends of rand_a and rand_b, and the start of random digits.
const RAND_A_END = 18;
const RAND_B_END = 23;
const RANDOM_START = 24;
const HEX = Buffer.from('0123456789abcdef');

/** The last `count` digits of `value`, before `end`. */
function writeHex(text: Buffer, end: number, value: number, count: number): void {
  for (let rest = value, at = end - 1; at >= end - count; at -= 1, rest >>>= 4) {
    text[at] = HEX[rest & 15] ?? 0;
  }
}

/**
 * Ids that follow from `seed`, a UUIDv7 that is used for nothing else: the same ids in the same
 * order each time. They rise. They sort after the seed and before the next id of its source,
 * because they have the seed's time and counter, and only its last 48 bits, which are random, count
 * on (RFC 9562 §6.2 method 2). Counting starts in the lower half of those, so that there is always
 * room. The first `skippedCount` ids are left out.
 */
export function deriveIds(seed: string, skippedCount = 0): IdSource {
  const head = seed.slice(0, -TAIL_DIGITS);
  const tail = Number.parseInt(seed.slice(-TAIL_DIGITS), 16) % TAIL_START_MAX + skippedCount;
  // The low half apart: small integers are written in a fifth of the time.
  const half = 2 ** (RANDOM_ID_BYTES * 4);
  let low = tail % half;
  let start = head + formatHalf(Math.floor(tail / half));
  return () => {
    low += 1;
    if (low === half) {
      low = 0;
      start = head + formatHalf(Math.floor(tail / half) + 1);
    }
    return start + formatHalf(low);
  };
}

function formatHalf(value: number): string {
  return value.toString(16).padStart(RANDOM_ID_BYTES, '0');
}

/** Whether `text` is a UUID of any RFC 9562 version in lower case. */
export function isUuid(text: string): boolean {
  return text.length === 36 && UUID_PATTERN.test(text);
}

/** When a UUIDv7 was made, in milliseconds since the epoch. */
export function timeOfUuidV7(uuid: string): number {
  return Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16);
}

/** The beginning of the UUIDv7s of a millisecond, in hexadecimal digits with a hyphen. */
export function formatUuidTime(ms: number): string {
  const time = ms.toString(16).padStart(12, '0');
  return `${time.slice(0, 8)}-${time.slice(8)}`;
}
