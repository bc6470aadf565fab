/** What the attempts of deliveries work with. */
import type { QueueCapacity } from '../queue-capacity.ts';
import type { SystemEvents } from '../system-events.ts';
import type { HealthMonitor } from '../../health/health-monitor.ts';
import type { OutgoingWebhookIndex } from '../../outgoing/outgoing-webhook-index.ts';
import type { RelayContext } from '../../relay-context.ts';
import type { Scheduler } from '../../work/scheduler.ts';
import type { BodyMaker } from './body-maker.ts';
import type { WebhookSender } from './webhook-sender.ts';

export type DeliveryContext = RelayContext & {
  readonly webhooks: OutgoingWebhookIndex;
  /** Has the committed pending deliveries of a webhook in the queue of its identifier. */
  readonly scheduler: Scheduler;
  readonly bodies: BodyMaker;
  readonly sender: WebhookSender;
  readonly capacity: QueueCapacity;
  /** The webhooks that are being retired. Their queues start nothing. */
  readonly retiringIds: Set<string>;
  readonly systemEvents: SystemEvents;
  readonly health: HealthMonitor;
  /** Seconds between attempts, for webhooks without a schedule of their own. */
  readonly schedule: readonly number[];
  /** The source of events in the format `cloudevents`; undefined: the one of all hookshelves. */
  readonly cloudEventSource: string | undefined;
};
