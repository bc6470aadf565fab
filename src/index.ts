/**
 * hookshelf as a library: `createHookshelf` opens a data directory and gives an app to mount in a
 * program of your own. No global state, no signal handler, no output, no exit.
 */
import type { RequestListener } from 'node:http';
import { resolve } from 'node:path';
import { openApp } from './app.ts';
import type { App } from './app.ts';
import { AppError } from './base/errors.ts';
import { isJsonObject } from './base/fields.ts';
import { createRedactingLogger, silentLogger } from './base/log.ts';
import type { Logger } from './base/log.ts';
import { findNearest } from './base/text/nearest.ts';
import type { JsonValue } from './base/schema.ts';
import { createApiRequest } from './app/api-requests.ts';
import type { ApiRequest } from './app/api-types.ts';
import type { BookShelf } from './books/catalog.ts';
import type { BookListing, BookSelection } from './books/list/book-list.ts';
import type { BookListExplanation } from './books/list/book-list.ts';
import type { BookListQuery } from './books/query/parse-query.ts';
import { LogLines } from './monitoring/log-lines.ts';
import { loadSettings } from './settings/load-settings.ts';
import type { SettingsInput as Settings } from './settings/load-settings.ts';
import type { ActionClass } from './webhooks/actions/action.ts';
import type {
  SendOptions, SendResult, SendingWebhook,
} from './webhooks/outgoing/send-options.ts';

export type {
  ActionDescription, ApiAnswer, ApiMethod, ApiRequest, ApiRequestOptions, ConfigurationInput,
  ConfigurationPlan, IncomingWebhook, IncomingWebhookExamples, IncomingWebhookInput,
  OutgoingWebhook, OutgoingWebhookInput, Patch, PublicDelivery as Delivery,
  WebhookActionConfiguration, WebhookActionConfigurationInput,
} from './app/api-types.ts';
export { AppError } from './base/errors.ts';
export type { ErrorCode, ErrorDetails, FieldError } from './base/errors.ts';
export type { Logger } from './base/log.ts';
export type { JsonObject, JsonValue } from './base/schema.ts';
export type { Address, Author, Book, BookInput } from './books/book.ts';
export type { BookListing, BookSelection } from './books/list/book-list.ts';
export type { BookListExplanation } from './books/list/book-list.ts';
export type { BookListQuery } from './books/query/parse-query.ts';
export type { SettingsInput as Settings } from './settings/load-settings.ts';
export { ActionResult } from './webhooks/actions/action.ts';
export type {
  Action, ActionClass, ActionContext, ActionOptions, ActionOutcome, ActionTools, Payload,
  VerifiedSender as Verified,
} from './webhooks/actions/action.ts';
export type { TargetResponse as HttpAnswer, HttpSender } from './webhooks/members/http-sender.ts';
export type {
  SendOptions, SendResult, SendingWebhook as GivenHook,
} from './webhooks/outgoing/send-options.ts';

export type HookshelfOptions = {
  /** The data directory, made when missing; `data` in the current folder when not given. */
  readonly data?: string;
  /** Settings as in settings.json, such as `{ http: { timeout: 5 } }`; no environment is read. */
  readonly settings?: Settings;
  /** Custom actions, besides the modules in `<data>/actions/`. */
  readonly actions?: readonly ActionClass[];
  /** Without a logger nothing is logged. */
  readonly logger?: Logger;
  /** Opens the API without a token on any host, and where only lost or ended tokens are left. */
  readonly allowAnonymous?: boolean;
};

export interface Hookshelf {
  /**
   * Listens on TCP; `port` 0 asks the kernel for one. Throws AppError `usage` for a host that is
   * not loopback when no API token is configured.
   */
  listen(address?: { readonly port?: number; readonly host?: string }): Promise<{ url: string }>;
  /** To mount in a `node:http` server of your own. */
  readonly handler: RequestListener;
  readonly books: BookShelf & {
    /** Throws AppError `malformed`. `cursor` is null on the last page. */
    list(
      query: BookListQuery & { readonly fields: string },
    ): Promise<BookListing<BookSelection>>;
    list(query?: BookListQuery): Promise<BookListing>;
    /** How `list` answers the query, and how many books match. Throws AppError `malformed`. */
    explain(query?: BookListQuery): Promise<BookListExplanation>;
  };
  readonly webhooks: {
    /**
     * Sends now, one request unless `retries` (0 to 10) asks for more, to a disabled webhook too.
     * `hook` is an identifier or a name, a stored outgoing webhook (its stored state counts) or one
     * that is not stored, such as `{ targetUrl }`. A failed delivery is a result; throws AppError
     * `not_found` for an unknown identifier, `invalid` for a hook that breaks a rule and for
     * `retries` out of range.
     */
    send(
      hook: string | SendingWebhook, payload: JsonValue, options?: SendOptions,
    ): Promise<SendResult>;
    /**
     * Fires an event; the identifiers of its deliveries, which are on disk. Throws AppError
     * `invalid` for a bad name, and for one that is kept for events about hookshelf itself.
     */
    emit(name: string, payload: JsonValue): Promise<readonly string[]>;
  };
  /** Everything that the API can do: hooks, configurations, deliveries. */
  readonly request: ApiRequest;
  /** Answers what is in flight, flushes and releases the data directory; idempotent. */
  close(): Promise<void>;
  /** Closes, for `await using`. */
  [Symbol.asyncDispose](): Promise<void>;
}

/**
 * Opens an app. Throws AppError: `usage` for wrong settings, `conflict` when another process holds
 * the directory, or we are root and it is not root's alone, `damaged` when its data cannot be read.
 */
export async function createHookshelf(options: HookshelfOptions = {}): Promise<Hookshelf> {
  checkOptions(options);
  const {
    data = 'data', settings: settingsInput = {}, actions = [], allowAnonymous = false,
  } = options;
  const file = { origin: 'settings', value: settingsInput };
  const { settings, origins } = loadSettings({ file });
  const lines = new LogLines();
  const logger = createRedactingLogger(options.logger ?? silentLogger, {
    level: settings.log.level, now: Date.now, keep: (line) => lines.add(line),
  });
  const app = await openApp({
    data: resolve(data), settings, logger, actions, allowAnonymous, role: 'server', origins, lines,
  });
  app.start();
  return {
    async listen(address) {
      const { url } = await app.listen(address);
      return { url };
    },
    handler: app.dispatcher.listeners('embedded').request,
    books: {
      ...app.books,
      get(id) {
        checkOpen(app);
        return app.books.get(id);
      },
      async list(query) {
        checkOpen(app);
        return app.bookList.list(query);
      },
      async explain(query) {
        checkOpen(app);
        return app.bookList.explain(query);
      },
    },
    webhooks: {
      send: (...args) => app.inFlight.track(app.webhooks.send(...args)),
      emit: (name, payload) => app.webhooks.emit(name, payload),
    },
    request: createApiRequest(app.dispatcher.listeners('process').request),
    close: () => app.close(),
    [Symbol.asyncDispose]: () => app.close(),
  };
}

// A closed store refuses writes itself, but what is read of it would silently grow old.
function checkOpen(app: App): void {
  if (app.dispatcher.isClosed) throw new AppError('unavailable', 'the app is closed');
}

const OPTIONS = ['data', 'settings', 'actions', 'logger', 'allowAnonymous'];
const LOGGER_METHODS = ['debug', 'info', 'warning', 'error'];

// A mistyped `data` would open another directory; `console` is no logger: it has no `warning`.
function checkOptions(options: unknown): void {
  if (!isJsonObject(options)) throw new AppError('usage', 'the options must be an object');
  for (const name of Object.keys(options)) {
    if (OPTIONS.includes(name)) continue;
    const near = findNearest(name, OPTIONS);
    const hint = near === null ? `known are ${OPTIONS.join(', ')}` : `did you mean \`${near}\`?`;
    throw new AppError('usage', `unknown option \`${name}\`: ${hint}`);
  }
  const { data, actions, logger, allowAnonymous } = options;
  if (allowAnonymous !== undefined && typeof allowAnonymous !== 'boolean') {
    throw new AppError('usage', 'the option `allowAnonymous` must be true or false');
  }
  if (data !== undefined && typeof data !== 'string') {
    throw new AppError('usage', 'the option `data` must be the path of a directory');
  }
  if (actions !== undefined && !Array.isArray(actions)) {
    throw new AppError('usage', 'the option `actions` must be an array of classes');
  }
  if (logger === undefined) return;
  const lacking = LOGGER_METHODS.filter((name) =>
    typeof Object(logger)[name] !== 'function');
  if (lacking.length === 0) return;
  throw new AppError('usage', `the option \`logger\` lacks ${lacking.join(', ')}`);
}
