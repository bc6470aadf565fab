/** What a node of the model holds in memory: the state after all changes up to its position. */
import type { Change, Position } from './engine.ts';

export type DeliveryRecord = { readonly attempts: number; readonly isFinal: boolean };
export type Lease = { readonly node: string; readonly term: number };

export class ImageModel {
  readonly records: Map<string, string>;
  readonly names: Map<string, string>;
  readonly deliveries: Map<string, DeliveryRecord>;
  lease: Lease = { node: '', term: 0 };
  position: Position = { sequence: 0, chain: '' };

  constructor(of?: ImageModel) {
    this.records = new Map(of?.records);
    this.names = new Map(of?.names);
    this.deliveries = new Map(of?.deliveries);
    if (of !== undefined) {
      this.lease = of.lease;
      this.position = of.position;
    }
  }

  apply(change: Change): void {
    switch (change.kind) {
      case 'put':
        this.records.set(change.key, change.token);
        if (change.name !== null) this.names.set(change.name, change.key);
        this.deliveries.set(change.token, { attempts: 0, isFinal: false });
        break;
      case 'delete':
        this.records.delete(change.key);
        for (const [name, key] of this.names) if (key === change.key) this.names.delete(name);
        break;
      case 'lease':
        this.lease = { node: change.node, term: change.term };
        break;
      case 'result':
        this.deliveries.set(change.delivery,
          { attempts: change.attempts, isFinal: change.isFinal });
        break;
    }
  }
}
