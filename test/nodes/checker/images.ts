/** Nodes hold the same bytes at the same sequence, and those are what the log says up to there. */
import type { History, Image, Violation } from './history.ts';
import type { Merged } from './merged.ts';

export function checkImages(history: History, { events }: Merged): Violation[] {
  const bySequence = new Map<number, Image>();
  const isWhole = history.followers.some(({ from }) => from === 0);
  return history.images.flatMap((image) => {
    const other = bySequence.get(image.sequence);
    if (other === undefined) bySequence.set(image.sequence, image);
    const differences = other === undefined ? [] : differencesOf(image, bytesOf(other));
    const fromLog = isWhole && events.length > 0
      ? differencesOf(image, replay(events, image.sequence)) : [];
    const violation = (text: string): Violation => ({ rule: 'image',
      message: `at sequence ${image.sequence}, ${image.node} ${text}` });
    return [
      ...differences.map((key) => violation(`and ${other?.node} differ in ${key}`)),
      ...fromLog.map((key) => violation(`has ${key} otherwise than the log`)),
    ];
  });
}

function bytesOf({ records }: Image): ReadonlyMap<string, string> {
  return new Map([...records].map(([key, { bytes }]) => [key, bytes]));
}

function replay(events: Merged['events'], sequence: number): ReadonlyMap<string, string> {
  const records = new Map<string, string>();
  for (const event of events) {
    if (event.sequence > sequence) break;
    if (event.token === null) records.delete(event.key);
    else records.set(event.key, event.bytes);
  }
  return records;
}

function differencesOf({ records }: Image, other: ReadonlyMap<string, string>): string[] {
  const keys = new Set([...records.keys(), ...other.keys()]);
  return [...keys].filter((key) => records.get(key)?.bytes !== other.get(key));
}
