/** An old backup of the engine takes the place of what it holds, under nodes that run. */
import { until } from '../../support/until.ts';
import type { EngineRig } from '../life/engine-rigs.ts';
import type { Life } from '../life/life.ts';
import type { Shelf } from '../life/shelf.ts';

const WAIT_MS_MAX = 120_000;
const BEFORE = 30;
const LOST = 10;

/**
 * Resolves with the ids of the books that all nodes must hold now, and those that are lost. Of what
 * `away` knows, if there is one, the log has gone on otherwise when it comes back.
 */
export async function restoreOldBackup(
  life: Life, rig: EngineRig, away: Shelf | null,
): Promise<{ readonly kept: readonly string[]; readonly lost: readonly string[] }> {
  const [first, second] = [life.shelf(0), life.shelf(1)];
  const before = await createBooks(life, first, BEFORE);
  await rig.backUp();
  const lost = await createBooks(life, first, LOST);
  const cut = away === null ? [] : rig.proxies(life.shelves.indexOf(away));
  for (const proxy of cut) proxy.refuse();
  await rig.restore();
  const after = await createBooks(life, second, away === null ? LOST : 3 * LOST);
  for (const proxy of cut) proxy.heal();
  return { kept: [...before, ...after], lost };
}

/** Their ids, once all are acknowledged. */
async function createBooks(life: Life, shelf: Shelf, count: number): Promise<string[]> {
  const ids: string[] = [];
  await until(`${count} books at ${shelf.name}`, async () => {
    const { outcome, key } = await life.workload.create(shelf);
    if (outcome === 'ok' && key !== null) ids.push(key);
    return ids.length === count;
  }, { msMax: WAIT_MS_MAX });
  return ids;
}
