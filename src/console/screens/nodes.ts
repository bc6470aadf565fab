/** The processes that share one log: which live, how far each is, and whose work it does. */
import { h } from '../base/dom.ts';
import { count, time } from '../base/format.ts';
import { badge } from '../parts/badge.ts';
import { table } from '../parts/table.ts';
import type { NodeView } from '../../nodes/node-routes.ts';

/** Nothing where the store is one process's alone. */
export function nodesPart(nodes: readonly NodeView[]): readonly HTMLElement[] {
  if (nodes.length === 0) return [];
  const rows = nodes.map((node) => [
    h('code', { title: node.startedAt }, node.identifier + (node.isSelf ? ' (this one)' : '')),
    badge(node.isLive ? 'live' : 'silent'), node.address ?? '–', node.version,
    count(node.position), count(node.lag), `${node.shards.length} of 16`, time(node.lastHeardAt),
  ]);
  const titles =
    ['Node', 'State', 'Address', 'Version', 'Position', 'Lag', 'Shards', 'Last heard'];
  return [h('h2', {}, 'Nodes'), table(titles, rows, 'stacked')];
}
