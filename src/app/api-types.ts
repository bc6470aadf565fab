/**
 * The routes of the API as types, for a program that embeds us: their bodies and answers. All types
 * follow from the schemas of the OpenAPI document. A test reads the table of routes as text,
 * and compares its methods and paths with the document's.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { JsonSchema, JsonValue, ObjectSchema } from '../base/schema.ts';
import type { AnswerOf, InputOf, SchemaOf } from '../base/schema-types.ts';
import type { accessSchema, TOKEN_MODEL } from '../access/token.ts';
import type { bookSchema } from '../books/book.ts';
import type { mergeSchema } from '../books/merge-books.ts';
import type {
  historySchema, logLinesSchema, settingsSchema, statisticsSchema, statusSchema,
} from '../monitoring/monitoring-schema.ts';
import type { nodeSchema } from '../nodes/node-routes.ts';
import type { ANY_JSON, TEXT } from '../resources/route-specs.ts';
import type { configurationSchema } from '../webhooks/actions/action-configuration.ts';
import type { actionSchema } from '../webhooks/actions/action-endpoints.ts';
import type { COUNT_SCHEMA, JOB_SCHEMA } from '../webhooks/bulk/job.ts';
import type { ApplyOptions, planSchema } from '../webhooks/configuration/document-schema.ts';
import type {
  deliverySchema, emittedSchema, reconciliationSchema, resendSchema, retriedSchema,
  sentDeliverySchema,
} from '../webhooks/deliveries/delivery-schema.ts';
import type {
  examplesSchema, matchSchema, outgoingExamplesSchema, receivedRequestSchema, requestToMatchSchema,
  sampleRequestSchema, sampleSchema,
} from '../webhooks/diagnostics/diagnostic-schema.ts';
import type { durableSendingSchema, eventSchema } from '../webhooks/events/emit-schema.ts';
import type {
  eventWithDeliveriesSchema, keptEventSchema,
} from '../webhooks/events/public-event.ts';
import type {
  headersSchema, pinSchema, reconciliationSchema as requestReconciliationSchema, replaySchema,
  requestSchema,
} from '../webhooks/inbox/request-schema.ts';
import type { incomingSchema } from '../webhooks/incoming/incoming-webhook.ts';
import type {
  createRotatedSchema, createRotationSchema,
} from '../webhooks/members/rotate-secret.ts';
import type { webhookStatisticsSchema } from '../webhooks/health/webhook-statistics.ts';
import type { outgoingSchema } from '../webhooks/outgoing/outgoing-webhook.ts';
import type { sendingSchema, sendResultSchema } from '../webhooks/outgoing/send-options.ts';
import type { diagnosisSchema } from '../webhooks/senders/diagnosis/diagnosis-report.ts';
import type { presetSchema } from '../webhooks/senders/presets/preset-schema.ts';

export type { ActionDescription } from '../webhooks/actions/action-endpoints.ts';
export type { ConfigurationPlan } from '../webhooks/configuration/document-schema.ts';
export type { PublicDelivery } from '../webhooks/deliveries/delivery-schema.ts';
export type { IncomingWebhookExamples } from '../webhooks/diagnostics/diagnostic-schema.ts';

/** A body may repeat the identifier; it must be the one in the path. */
type KeyedInput<Described> =
  SchemaOf<InputOf<Described> & { readonly identifier?: string | null }>;

export type IncomingWebhook = AnswerOf<typeof incomingSchema>;
export type IncomingWebhookInput = InputOf<KeyedInput<typeof incomingSchema>>;
export type OutgoingWebhook = AnswerOf<typeof outgoingSchema>;
export type OutgoingWebhookInput = InputOf<KeyedInput<typeof outgoingSchema>>;
export type WebhookActionConfiguration = AnswerOf<typeof configurationSchema>;
export type WebhookActionConfigurationInput = InputOf<typeof configurationSchema>;
export type DeliveryWithRequest = AnswerOf<typeof sentDeliverySchema>;
export type KeptEvent = AnswerOf<typeof keptEventSchema>;
export type KeptEventWithDeliveries = AnswerOf<typeof eventWithDeliveriesSchema>;

/** A configuration document: each record whole, all of them applied or none. */
export type ConfigurationInput = ApplyOptions & {
  readonly actionConfigurations?:
    readonly (WebhookActionConfigurationInput & { readonly identifier: string })[];
  readonly incomingWebhooks?: readonly IncomingWebhookInput[];
  readonly outgoingWebhooks?: readonly (OutgoingWebhookInput & { readonly name: string })[];
};

/** A JSON Merge Patch (RFC 7396): null removes a member. */
export type Patch<Body> = { readonly [Name in keyof Body]?: Body[Name] | null };

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

type TextSchema = typeof TEXT;
type AnySchema = typeof ANY_JSON;
type BytesSchema = SchemaOf<unknown, JsonSchema>;
/** The part of the schema of an array that `ViewOf` asks for. */
type ListOf<Items> = { readonly items: Items };
type FileSchema = SchemaOf<Uint8Array | JsonValue, JsonSchema>;
type Rotation = ReturnType<typeof createRotationSchema>;

/**
 * Method, path, and the schemas of the request body and of the response body, a row for each route.
 * `null`: no body; `X | null`: it may be left out. The first row that fits counts, and `{id}` fits
 * slashes as well: `/{id}/x` stands before `/{id}`.
 */
type Routes = [
  ['POST', '/api/books/import', FileSchema, TextSchema],
  ['GET', '/api/books/facets', null, AnySchema],
  ['GET', '/api/books/statistics', null, AnySchema],
  ['GET', '/api/books/suggest', null, ListOf<AnySchema>],
  ['GET', '/api/books/duplicates', null, ListOf<AnySchema>],
  ['POST', '/api/books/{id}/merge', typeof mergeSchema, typeof bookSchema],
  ...ResourceRoutes<'/api/books', '{id}', typeof bookSchema>,
  ['GET', '/api/incoming-webhooks/{identifier}/examples', null, typeof examplesSchema],
  ['GET', '/api/outgoing-webhooks/{identifier}/examples', null, typeof outgoingExamplesSchema],
  ['POST', '/api/incoming-webhooks/{identifier}/sample', typeof sampleRequestSchema,
    typeof sampleSchema],
  ['GET', '/api/verification-presets', null, ListOf<typeof presetSchema>],
  ['POST', '/api/incoming-webhooks/{identifier}/diagnose', typeof receivedRequestSchema,
    typeof diagnosisSchema],
  ['POST', '/api/incoming-webhooks/{identifier}/match', typeof requestToMatchSchema,
    typeof matchSchema],
  ['POST', '/api/incoming-webhooks/{identifier}/await-secret', null, typeof incomingSchema],
  ['POST', '/api/incoming-webhooks/{identifier}/rotate-secret', Rotation | null,
    ReturnType<typeof createRotatedSchema<typeof incomingSchema>>],
  ...ResourceRoutes<'/api/incoming-webhooks', '{identifier}', typeof incomingSchema,
    KeyedInput<typeof incomingSchema>>,
  ['GET', '/api/actions', null, ListOf<typeof actionSchema>],
  ...ResourceRoutes<'/api/action-configurations', '{identifier}', typeof configurationSchema>,
  ['POST', '/api/outgoing-webhooks/{identifier}/send', typeof sendingSchema | null,
    typeof sendResultSchema],
  ['POST', '/api/outgoing-webhooks/{identifier}/acknowledge', null, typeof outgoingSchema],
  ['GET', '/api/outgoing-webhooks/{identifier}/statistics', null, typeof webhookStatisticsSchema],
  ['POST', '/api/outgoing-webhooks/{identifier}/rotate-secret', Rotation | null,
    ReturnType<typeof createRotatedSchema<typeof outgoingSchema>>],
  ['POST', '/api/outgoing-webhooks/{identifier}/deliveries', typeof durableSendingSchema,
    typeof deliverySchema],
  ['POST', '/api/outgoing-webhooks/{identifier}/backfill', ObjectSchema,
    typeof COUNT_SCHEMA | typeof JOB_SCHEMA],
  ...ResourceRoutes<'/api/outgoing-webhooks', '{identifier}', typeof outgoingSchema,
    KeyedInput<typeof outgoingSchema>>,
  ['GET', '/api/configuration', null, ObjectSchema],
  ['PUT', '/api/configuration', SchemaOf<ConfigurationInput>, typeof planSchema],
  ['POST', '/api/events', typeof eventSchema, typeof emittedSchema],
  ['GET', '/api/events', null, ListOf<typeof keptEventSchema>],
  ['GET', '/api/events/{id}/payload', null, AnySchema],
  ['GET', '/api/events/{id}', null, typeof eventWithDeliveriesSchema],
  ['DELETE', '/api/events/{id}', null, null],
  ['GET', '/api/deliveries', null, ListOf<typeof deliverySchema>],
  ['GET', '/api/deliveries/reconcile', null, typeof reconciliationSchema],
  ['GET', '/api/deliveries/{identifier}/body', null, BytesSchema],
  ['GET', '/api/deliveries/{identifier}', null, typeof sentDeliverySchema],
  ['POST', '/api/deliveries/retry', null, typeof retriedSchema],
  ['POST', '/api/deliveries/resend', ObjectSchema, typeof COUNT_SCHEMA | typeof JOB_SCHEMA],
  ['POST', '/api/deliveries/cancel', ObjectSchema, typeof COUNT_SCHEMA | typeof JOB_SCHEMA],
  ['POST', '/api/deliveries/{identifier}/retry', null, typeof deliverySchema],
  ['POST', '/api/deliveries/{identifier}/cancel', null, typeof deliverySchema],
  ['POST', '/api/deliveries/{identifier}/resend', typeof resendSchema | null,
    typeof deliverySchema],
  ['GET', '/api/requests', null, ListOf<typeof requestSchema>],
  ['GET', '/api/requests/reconcile', null, typeof requestReconciliationSchema],
  ['GET', '/api/requests/{id}/body', null, BytesSchema],
  ['GET', '/api/requests/{id}/headers', null, typeof headersSchema],
  ['GET', '/api/requests/{id}', null, typeof requestSchema],
  ['PATCH', '/api/requests/{id}', typeof pinSchema, typeof requestSchema],
  ['DELETE', '/api/requests/{id}', null, null],
  ['POST', '/api/requests/{id}/restore', null, typeof requestSchema],
  ['POST', '/api/requests/replay', ObjectSchema, typeof COUNT_SCHEMA | typeof JOB_SCHEMA],
  ['POST', '/api/requests/{id}/replay', typeof replaySchema | null, typeof requestSchema],
  ['GET', '/api/jobs', null, ListOf<typeof JOB_SCHEMA>],
  ['GET', '/api/jobs/{id}', null, typeof JOB_SCHEMA],
  ['DELETE', '/api/jobs/{id}', null, typeof JOB_SCHEMA],
  ['GET', '/api/access', null, typeof accessSchema],
  ['GET', '/api/tokens', null, ListOf<typeof TOKEN_MODEL>],
  ['GET', '/api/stream', null, TextSchema],
  ['GET', '/api/nodes', null, ListOf<typeof nodeSchema>],
  ['GET', '/api/status', null, typeof statusSchema],
  ['GET', '/api/statistics', null, typeof statisticsSchema],
  ['GET', '/api/statistics/history', null, typeof historySchema],
  ['GET', '/api/log', null, typeof logLinesSchema],
  ['GET', '/api/settings', null, typeof settingsSchema],
  ['GET', '/api/identifiers/{collection}', null, ListOf<TextSchema>],
  ['GET', '/healthz' | '/readyz', null, SchemaOf<{ readonly status: string }>],
  ['GET', '/metrics' | '/docs' | '/docs/{chapter}', null, TextSchema],
  ['GET', '/' | '/openapi.json', null, ObjectSchema],
];

type ResourceRoutes<
  Path extends string, Key extends string, Described, Input = Described,
> = [
  ['GET', Path, null, ListOf<Described>],
  ['POST', Path, Input, Described],
  ['GET', `${Path}/${Key}`, null, Described],
  ['PUT', `${Path}/${Key}`, Input, Described],
  ['PATCH', `${Path}/${Key}`, SchemaOf<Patch<InputOf<Input>>>, Described],
  ['DELETE', `${Path}/${Key}`, null, null],
  ['POST', `${Path}/${Key}/restore`, null, Described],
];

type RequestBodyOf<Method, Path> =
  FindRoute<Routes, Method, WithoutQuery<Path>> extends [infer Body, unknown]
    ? Body extends null ? undefined : InputOf<Body> : unknown;
export type ResponseBodyOf<Method, Path> =
  FindRoute<Routes, Method, WithoutQuery<Path>> extends [unknown, infer Answer]
    ? Answer extends null ? null : AnswerOf<Answer> : unknown;

type WithoutQuery<Path> = Path extends `${infer Bare}?${string}` ? Bare : Path;

type FindRoute<Table, Method, Path> =
  Table extends [
    [infer Verb, infer Pattern extends string, infer Body, infer Answer], ...infer Rest,
  ]
    ? [Method, Path] extends [Verb, PathOf<Pattern>] ? [Body, Answer]
      : FindRoute<Rest, Method, Path>
    // The path is made at run time, or is none that we know.
    : unknown;

/** The paths that fit `/api/jobs/{id}`, as a type. */
type PathOf<Pattern extends string> = Pattern extends `${infer Start}{${string}}${infer End}`
  ? `${Start}${string}${PathOf<End>}` : Pattern;
