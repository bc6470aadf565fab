/**
 * Crashes, judged: what a crash at any moment of a run may leave on the disk, opened with the
 * store's own recovery and checked against what was acknowledged by that moment.
 */
import assert from 'node:assert/strict';
import { AppError, messageOf } from '../../src/base/errors.ts';
import type { Store } from '../../src/store/store-port.ts';
import { openOn } from './open-store.ts';
import { below, createRandom } from './random.ts';
import type { Disk, Survival } from './simulated-disk.ts';
import { cuts, type Cut, type CutOptions, type SimulatedFiles } from './simulated-files.ts';
import { checkHolds, contentOf, marked, type Content, type Outcome } from './workload.ts';

/** A disk a crash may leave; `index` is the latest moment that can leave it. */
export type Image = {
  readonly disk: Disk;
  readonly index: number;
  readonly origin: string;
};

export type ImageOptions = CutOptions & {
  /** Seeds of random survival tried at each cut between operations. */
  readonly seeds: number;
  readonly pageBytes: number;
};

export type Run = Pick<SimulatedFiles, 'initial' | 'history'>;

/**
 * The different disks that crashes in a run may leave. Of equal ones the latest stands for all:
 * the most is acknowledged by then.
 */
export function imagesOf(run: Run, options: ImageOptions): Image[] {
  const images = new Map<string, Image>();
  for (const cut of cuts(run, options)) {
    for (const survival of survivalsAt(cut, options)) {
      const disk = cut.disk.crash(survival);
      const origin = `${describe(cut)}, ${JSON.stringify(survival)}`;
      images.set(disk.digest, { disk, index: cut.index, origin });
    }
  }
  return [...images.values()];
}

/** Opens every image, checks it, and returns how many different contents were found. */
export async function checkImages(
  images: readonly Image[], outcomes: readonly Outcome[], thoroughlyEvery: number,
): Promise<number> {
  assert.ok(images.length > 0, 'there is a crash to look at');
  const contents = new Set<string>();
  for (const [number, image] of images.entries()) {
    const isThorough = number % thoroughlyEvery === 0;
    const content = await about(image.origin, () => checkImage(image, outcomes, isThorough));
    contents.add(JSON.stringify(content));
  }
  return contents.size;
}

async function checkImage(
  image: Image, outcomes: readonly Outcome[], isThorough: boolean,
): Promise<Content> {
  const { store, files } = await openOn(image.disk.clone());
  const content = checkHolds(store, outcomes, image.index);
  // What was replayed must be durable before anybody sees it.
  const lost = files.disk.crash({ kind: 'dropped' });
  if (isThorough) await checkGoesOn(store);
  await store.close();
  assert.deepEqual(files.openPaths, []);
  if (isThorough) {
    assert.deepEqual(await contentOn(lost), content, 'what was shown outlives the next crash');
  }
  return content;
}

/** What a start on a copy of the disk serves. */
export async function contentOn(disk: Disk): Promise<Content> {
  const { store } = await openOn(disk.clone());
  const content = contentOf(store);
  await store.close();
  return content;
}

/** Asserts that the store takes a write and shows it. */
export async function checkGoesOn(store: Store): Promise<void> {
  await store.transact(marked('after', (transaction) => {
    transaction.put('books', 'after', JSON.stringify({ id: 'after' }));
  }));
  assert.ok(store.collection('books').find('after') !== undefined);
  assert.equal(store.failure, null);
}

/** How a start on a copy of the disk ends: the content that is served, or the refusal. */
export async function startOn(disk: Disk): Promise<
  { readonly content: Content; readonly after: Disk } | { readonly refusal: AppError }
> {
  const copy = disk.clone();
  const before = copy.digest;
  try {
    const { store, files } = await openOn(copy);
    const content = contentOf(store);
    await store.close();
    return { content, after: files.disk.crash({ kind: 'kept' }) };
  } catch (error) {
    assert.ok(error instanceof AppError, messageOf(error));
    assert.equal(copy.digest, before, 'a refused start changes nothing on disk');
    return { refusal: error };
  }
}

/** Runs `check`; its failure also says where the crash was. */
export async function about<T>(origin: string, check: () => Promise<T>): Promise<T> {
  try {
    return await check();
  } catch (error) {
    throw new Error(`${messageOf(error)}\n  after a crash ${origin}`, { cause: error });
  }
}

/** A sample, drawn with a seed. */
export function sample<T>(items: readonly T[], count: number, seed: number): T[] {
  const random = createRandom(seed);
  let wanted = count;
  return items.filter((_, index) => {
    const isDrawn = below(random, items.length - index) < wanted;
    if (isDrawn) wanted--;
    return isDrawn;
  });
}

function survivalsAt(cut: Cut, options: ImageOptions): Survival[] {
  if (cut.tornBytes !== null) return [{ kind: 'kept' }];
  const seeds = Array.from({ length: options.seeds }, (_, seed) => cut.index * 1000 + seed);
  const random = seeds.map((seed): Survival =>
    ({ kind: 'random', seed, pageBytes: options.pageBytes }));
  return [{ kind: 'kept' }, { kind: 'dropped' }, ...random];
}

function describe({ index, tornBytes }: Cut): string {
  return tornBytes === null ? `at operation ${index}` : `${tornBytes} bytes into write ${index}`;
}
