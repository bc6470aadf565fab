/**
 * The kinds of jobs: requests that run again, deliveries that are sent again or cancelled, and
 * backfills.
 */
import type { JsonObject } from '../../base/schema.ts';
import type { Steps } from '../../base/turns.ts';
import { findCommitted } from '../../store/find-record.ts';
import type { Binding } from '../../server/http-route.ts';
import type { FindRecord, Transaction, TransactionInputs } from '../../store/store-port.ts';
import {
  OUTGOING_STATUSES, QUEUED_STATUSES, deliveryCollection, type DeliveryStatus,
} from '../deliveries/delivery.ts';
import { decodeDelivery } from '../deliveries/delivery-codec.ts';
import {
  isOutgoingKind, restrictDeliveries, type DeliveryFilter, type RequestLookup,
} from '../deliveries/delivery-fields.ts';
import { openDelivery, EVENT_FACT_SOURCES } from '../deliveries/delivery-search.ts';
import type { DeliveryService } from '../deliveries/delivery-service.ts';
import { eventCollection } from '../deliveries/event-record.ts';
import { SOURCES } from '../members/filters/facts.ts';
import { Visibility } from '../members/visibility.ts';
import { decodeRequest, requestCollection } from '../inbox/request-codec.ts';
import { requestFields } from '../inbox/request-fields.ts';
import type { RequestService } from '../inbox/request-service.ts';
import { createFieldTest, parseFilterBody } from '../records/fields.ts';
import type { RelayContext } from '../relay-context.ts';
import { prepareWhere } from '../records/search-query.ts';
import { createBackfill, type BackfillWork } from './backfill.ts';
import type { JobKind, JobKinds } from './job-kind.ts';
import { createSelection, stageEach } from './record-selection.ts';

type JobWork = BackfillWork & {
  readonly requests: Pick<RequestService, 'stageReplay'>;
  readonly findSearched: RequestLookup['findSearched'];
  readonly deliveries: Pick<DeliveryService, 'fields' | 'stageResend' | 'stageCancel'>;
};

/**
 * Restricts the filter of a resend to what a caller sees whose token is bound to webhooks. Without
 * a webhook of its own it names one that cannot be: an earlier program, which does not know the
 * member `webhooks`, finds nothing then.
 */
export function bindResendFilter(filter: JsonObject, { webhooks }: Binding): JsonObject {
  return { ...filter, hook: filter['hook'] ?? ANY_HOOK, webhooks };
}

const ANY_HOOK = '*';

export function createJobKinds(context: RelayContext, work: JobWork): JobKinds {
  return {
    'request-replay': createRequestReplay(context, work),
    'delivery-resend': createDeliveryJob(context, work, {
      statuses: OUTGOING_STATUSES,
      stage(transaction, id, inputs, { filter, isBound }) {
        const mode = filter['as'] === 'new' ? 'new' : 'retry';
        work.deliveries.stageResend(transaction, id, mode, inputs, isBound);
      },
    }),
    'delivery-cancel': createDeliveryJob(context, work, {
      statuses: QUEUED_STATUSES,
      stage: (transaction, id, { nowMs }) =>
        work.deliveries.stageCancel(transaction, id, nowMs),
    }),
    backfill: createBackfill(context.store, work),
  };
}

function createRequestReplay(
  { store, turns }: RelayContext, { findSearched, requests }: JobWork,
): JobKind {
  return {
    select(jobFilter: JsonObject) {
      const isMet = createFieldTest(requestFields, parseFilterBody(requestFields, jobFilter));
      const matches = (bytes: Buffer, find: FindRecord): boolean =>
        isMet(decodeRequest(bytes, find));
      const options = { routes: null, isNew: jobFilter['as'] === 'new' };
      const find = findCommitted(store);
      const test = prepareWhere(jobFilter, SOURCES);
      function* holds({ id }: { readonly id: string }): Steps<boolean> {
        const request = findSearched(id);
        return request !== null && test !== null && (yield* test(request));
      }
      return {
        ...createSelection(store.collection(requestCollection.name), (bytes) =>
          matches(bytes, find), test && { turns, holds }),
        stage: (transaction, ids, { nowMs, seed }) =>
          stageEach(transaction, requestCollection, ids, seed, matches, (id, copyId) =>
            requests.stageReplay(transaction, id, options, { nowMs, id: copyId })),
      };
    },
  };
}

type DeliveryWork = {
  /** Deliveries of other statuses are not selected. */
  readonly statuses: readonly DeliveryStatus[];
  readonly stage: (
    transaction: Transaction, id: string, inputs: Omit<TransactionInputs, 'hops'>,
    job: { readonly filter: JsonObject; readonly isBound: boolean },
  ) => void;
};

function createDeliveryJob(
  { store, turns }: RelayContext, { deliveries, fanOuts, webhooks }: JobWork,
  { statuses, stage }: DeliveryWork,
): JobKind {
  const parseDeliveryFilter = ({ webhooks: binding, ...filter }: JsonObject): DeliveryFilter => {
    if (!Array.isArray(binding)) {
      return { ...parseFilterBody(deliveries.fields, filter), kind: isOutgoingKind };
    }
    const { hook, ...criteria } = filter;
    const fields = parseFilterBody(deliveries.fields, hook === ANY_HOOK ? criteria : filter);
    // It looks each webhook up anew: one that was renamed or removed meanwhile is out of sight.
    const visibility = new Visibility({ tokenId: '', webhooks: binding.map(String) }, webhooks);
    return restrictDeliveries(fields, visibility, Array.isArray(filter['where']));
  };
  return {
    select(filter) {
      const isMet = createFieldTest(deliveries.fields, parseDeliveryFilter(filter));
      const matches = (bytes: Buffer): boolean => {
        const delivery = decodeDelivery(bytes);
        return statuses.includes(delivery.status) && isMet(delivery);
      };
      const test = prepareWhere(filter, EVENT_FACT_SOURCES);
      const events = store.collection(eventCollection.name);
      const selection = createSelection(store.collection(deliveryCollection.name), matches,
        test && { turns, holds: ({ bytes, id }) => test(openDelivery(events, bytes, id)) });
      return {
        ...selection,
        async begin() {
          await fanOuts.whenWritten();
          return selection.begin();
        },
        stage: (transaction, ids, { nowMs, seed }, { token }) =>
          stageEach(transaction, deliveryCollection, ids, seed, matches, (id, ownSeed) =>
            stage(transaction, id, { nowMs, seed: ownSeed },
              { filter, isBound: token !== undefined })),
      };
    },
  };
}
