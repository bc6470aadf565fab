/** The services that attempts of deliveries need. */
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
  /** The queue of a webhook's identifier has its committed pending deliveries. */
  readonly scheduler: Scheduler;
  readonly bodies: BodyMaker;
  readonly sender: WebhookSender;
  readonly capacity: QueueCapacity;
  readonly retiringIds: Set<string>;
  readonly systemEvents: SystemEvents;
  readonly health: HealthMonitor;
  /** For webhooks without a schedule of their own: seconds between attempts. */
  readonly schedule: readonly number[];
  /** undefined: the source of all hookshelves. */
  readonly cloudEventSource: string | undefined;
};
