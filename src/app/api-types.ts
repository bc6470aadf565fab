/**
 * The routes of the API as types, for a program that embeds us: what each takes and answers. The
 * models are those of the OpenAPI document, as they are answered and as they may be sent.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonObject, JsonValue } from '../base/schema.ts';
import type { AnswerOf, InputOf } from '../base/schema-types.ts';
import type { Book, BookInput } from '../books/book.ts';
import type { ActionDescription } from '../webhooks/actions/action-endpoints.ts';
import type { ConfigurationPlan } from '../webhooks/configuration/document-schema.ts';
import type { configurationSchema } from '../webhooks/actions/action-configuration.ts';
import type { incomingSchema } from '../webhooks/incoming/incoming-webhook.ts';
import type { IncomingWebhookExamples } from '../webhooks/diagnostics/diagnostic-routes.ts';
import type { NodeView } from '../nodes/node-routes.ts';
import type { DeliveryReconciliation } from '../webhooks/deliveries/delivery-reconciliation.ts';
import type { PublicDelivery as Delivery } from '../webhooks/deliveries/delivery.ts';
import type { PublicSentRequest } from '../webhooks/deliveries/sent-request.ts';
import type { outgoingSchema } from '../webhooks/outgoing/outgoing-webhook.ts';
import type { Diagnosis } from '../webhooks/senders/diagnosis/diagnosis-report.ts';
import type { PresetDescription } from '../webhooks/senders/presets/describe-presets.ts';
import type { SendResult } from '../webhooks/deliveries/sending/webhook-sender.ts';

export type { ActionDescription } from '../webhooks/actions/action-endpoints.ts';
export type { IncomingWebhookExamples } from '../webhooks/diagnostics/diagnostic-routes.ts';
export type { ConfigurationPlan } from '../webhooks/configuration/document-schema.ts';
export type { PublicDelivery as Delivery } from '../webhooks/deliveries/delivery.ts';
export type {
  PublicEvent as KeptEvent, PublicEventWithDeliveries as KeptEventWithDeliveries,
} from '../webhooks/events/public-event.ts';

/** `sent` is the last request; null: none was sent yet, or it is not stored. */
export type DeliveryWithRequest = Delivery & { readonly sent: PublicSentRequest | null };

/** A body may repeat the identifier; it must be the one in the path. */
type KeyInput = { readonly identifier?: string | null };
/** A JSON Merge Patch (RFC 7396): null removes a member. */
export type Patch<Body> = { readonly [Name in keyof Body]?: Body[Name] | null };

export type IncomingWebhook = AnswerOf<typeof incomingSchema>;
export type IncomingWebhookInput = InputOf<typeof incomingSchema> & KeyInput;
export type OutgoingWebhook = AnswerOf<typeof outgoingSchema>;
export type OutgoingWebhookInput = InputOf<typeof outgoingSchema> & KeyInput;
export type WebhookActionConfiguration = AnswerOf<typeof configurationSchema>;
export type WebhookActionConfigurationInput = InputOf<typeof configurationSchema>;

/** A configuration document: each record whole, all of them applied or none. */
export type ConfigurationInput = {
  readonly actionConfigurations?:
    readonly (WebhookActionConfigurationInput & { readonly identifier: string })[];
  readonly incomingWebhooks?: readonly IncomingWebhookInput[];
  readonly outgoingWebhooks?: readonly (OutgoingWebhookInput & { readonly name: string })[];
  readonly set?: string; readonly prune?: boolean; readonly dryRun?: boolean;
};

/** Without `secret` the service makes one, and the response holds it. */
export type Rotation = {
  readonly secret?: string; readonly overlapHours?: number; readonly force?: boolean;
};

/** A request that an incoming webhook received, to be diagnosed. */
export type ReceivedRequest = {
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  /** base64 */
  readonly body?: string;
  readonly method?: string;
  readonly url?: string;
  readonly client?: string;
  /** RFC 3339 */
  readonly at?: string;
};

/** When an event begins, and what it is about. At most one of the two times stands there. */
type EventTermsInput = {
  readonly key?: string;
  /** RFC 3339 */
  readonly deliverAt?: string;
  readonly delaySeconds?: number;
};

export type ApiMethod = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

export type ApiAnswer<Body> = {
  readonly status: number;
  /** Lower-case names, such as `etag` and `x-total-count`. */
  readonly headers: IncomingHttpHeaders;
  /** Parsed where it is JSON, text where it is not, null where there is none. */
  readonly body: Body;
};

export type ApiRequestOptions = {
  /** For example `{ 'If-Match': etag }`. */
  readonly headers?: Readonly<Record<string, string>>;
};

/**
 * Sends a request to the routes of the API in memory, past tokens and limits of the network, as
 * commands do. A body of bytes is sent as it is, such as a file to `/api/books/import?format=…`.
 * Throws the AppError of a problem answer: `invalid`, `not_found`, `conflict`, ….
 */
export type ApiRequest = <Method extends ApiMethod, Path extends `/${string}`>(
  method: Method, path: Path, ...args: RequestArguments<RequestBodyOf<Method, Path>>
) => Promise<ApiAnswer<ResponseBodyOf<Method, Path>>>;

type RequestArguments<Body> = undefined extends Body
  ? [body?: Body, options?: ApiRequestOptions] : [body: Body, options?: ApiRequestOptions];

/** Method, path, request body and response body of each route; the first that fits counts. */
type Routes = [
  ...ResourceRoutes<'/api/books', Book, BookInput>,
  ['GET', `/api/incoming-webhooks/${string}/examples`, undefined, IncomingWebhookExamples],
  ['GET', '/api/verification-presets', undefined, readonly PresetDescription[]],
  ['POST', `/api/incoming-webhooks/${string}/await-secret`, undefined, IncomingWebhook],
  ['POST', `/api/incoming-webhooks/${string}/rotate-secret`, Rotation | undefined,
    IncomingWebhook & { readonly secret?: string }],
  ['POST', `/api/outgoing-webhooks/${string}/rotate-secret`, Rotation | undefined,
    OutgoingWebhook & { readonly secret?: string }],
  ['POST', `/api/incoming-webhooks/${string}/diagnose`, ReceivedRequest, Diagnosis],
  ...ResourceRoutes<'/api/incoming-webhooks', IncomingWebhook, IncomingWebhookInput>,
  ...ResourceRoutes<'/api/action-configurations', WebhookActionConfiguration,
    WebhookActionConfigurationInput>,
  ['POST', `/api/outgoing-webhooks/${string}/send`,
    { readonly payload?: JsonValue; readonly retries?: number } | undefined,
    SendResult],
  ...ResourceRoutes<'/api/outgoing-webhooks', OutgoingWebhook, OutgoingWebhookInput>,
  ['GET', '/api/configuration', undefined, JsonObject],
  ['PUT', '/api/configuration', ConfigurationInput, ConfigurationPlan],
  ['GET', '/api/actions', undefined, readonly ActionDescription[]],
  ['POST', '/api/events',
    { readonly name: string; readonly payload?: JsonValue } & EventTermsInput,
    { readonly event: string | null; readonly deliveries: readonly string[] }],
  ['DELETE', `/api/events/${string}`, undefined, null],
  ['POST', `/api/outgoing-webhooks/${string}/deliveries`,
    { readonly payload?: JsonValue; readonly event?: string } & EventTermsInput, Delivery],
  ['GET', '/api/deliveries', undefined, readonly Delivery[]],
  ['GET', '/api/deliveries/reconcile', undefined, DeliveryReconciliation],
  ['GET', `/api/deliveries/${string}`, undefined, DeliveryWithRequest],
  ['POST', '/api/deliveries/retry', undefined, { readonly retried: number }],
  ['POST', `/api/deliveries/${string}/${'retry' | 'cancel'}`, undefined, Delivery],
  ['POST', `/api/deliveries/${string}/resend`, { readonly as?: 'retry' | 'new' } | undefined,
    Delivery],
  ['GET', '/api/nodes', undefined, readonly NodeView[]],
  ['GET', `/api/identifiers/${string}`, undefined, readonly string[]],
  ['GET', '/healthz' | '/readyz', undefined, { readonly status: string }],
  ['GET', '/metrics' | '/docs' | `/docs/${string}`, undefined, string],
  ['GET', '/' | '/openapi.json', undefined, JsonObject],
];

type ResourceRoutes<Path extends string, One, Input> = [
  ['GET', Path, undefined, readonly One[]],
  ['POST', Path, Input, One],
  ['GET', `${Path}/${string}`, undefined, One],
  ['PUT', `${Path}/${string}`, Input, One],
  ['PATCH', `${Path}/${string}`, Patch<Input>, One],
  ['DELETE', `${Path}/${string}`, undefined, null],
];

type WithoutQuery<Path> = Path extends `${infer Bare}?${string}` ? Bare : Path;
type RequestBodyOf<Method, Path> = FindRoute<Routes, Method, WithoutQuery<Path>, 'body'>;
type ResponseBodyOf<Method, Path> = FindRoute<Routes, Method, WithoutQuery<Path>, 'answer'>;

type FindRoute<Table, Method, Path, Part> =
  Table extends [[infer Verb, infer Pattern, infer Body, infer Answer], ...infer Rest]
    ? [Method, Path] extends [Verb, Pattern]
      ? { body: Body; answer: Answer }[Part & ('body' | 'answer')]
      : FindRoute<Rest, Method, Path, Part>
    // The path is made at run time, or is none that we know.
    : unknown;
