/** Changes of one member of a book that need no form, and the texts that they offer. */
import { callApi, getJson } from '../../base/api-calls.ts';
import { fill, h, uniqueId } from '../../base/dom.ts';
import { apiPath } from '../../base/screen-address.ts';
import { showFailureNotice } from '../../parts/notice.ts';
import type { FacetsResponse } from './book-facets.ts';

/** The facet that counts the values of a member. */
const FACETS = { keywords: 'keyword', shelves: 'shelf' } as const;

/** `keywords`, or a member of `reading`. */
export type ChangedMember = 'keywords' | 'shelves' | 'status' | 'rating';

/** Offers the values of the member that there are most, counted once the input has the focus. */
export function createOffers(input: HTMLElement, member: ChangedMember): HTMLElement | null {
  if (member === 'status' || member === 'rating') return null;
  const facet = FACETS[member];
  const list = h('datalist', { id: uniqueId('values') });
  input.setAttribute('list', list.id);
  const offer = async (): Promise<void> => {
    const { facets } = await getJson<FacetsResponse>(`/api/books/facets?by=${facet}`);
    fill(list, ...(facets[facet] ?? []).map(({ value }) => h('option', { value })));
  };
  input.addEventListener('focus', () => void offer().catch(showFailureNotice), { once: true });
  return list;
}

/** Resolves with the ETag of the book afterwards. Throws ApiError, 412 where it is another. */
export async function patchMember(
  id: string, member: ChangedMember, value: unknown, etag: string,
): Promise<string> {
  const { etag: newEtag } = await callApi('PATCH', apiPath('books', id), {
    body: member === 'keywords' ? { keywords: value ?? null }
      : { reading: { [member]: value ?? null } },
    headers: { 'If-Match': etag, 'Content-Type': 'application/merge-patch+json' },
  });
  return newEtag;
}

export function addText(texts: readonly string[], text: string): readonly string[] {
  return texts.some((one) => isSameText(one, text)) ? texts : [...texts, text];
}

export function removeText(texts: readonly string[], text: string): readonly string[] | undefined {
  const others = texts.filter((one) => !isSameText(one, text));
  if (others.length === texts.length) return texts;
  return others.length === 0 ? undefined : others;
}

function isSameText(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}
