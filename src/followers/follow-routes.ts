/**
 * The routes for followers of the log. What they send holds secrets, so they ask for a token of the
 * scope `follow` also where the API needs none.
 */
import { AppError } from '../base/errors.ts';
import { isCount, parseObject } from '../base/fields.ts';
import type { ObjectSchema, Schema } from '../base/schema.ts';
import { quote } from '../base/text/error-message.ts';
import { isUuid } from '../base/uuid.ts';
import { COUNT, JSON_TYPE, TEXT } from '../resources/route-specs.ts';
import { problemResponses } from '../server/problem.ts';
import { readQuery } from '../server/query.ts';
import type { Exchange, HttpRoute, ParameterSpec } from '../server/http-route.ts';
import type { EpochPosition } from '../store/epochs.ts';
import type { FollowerPlace } from './follower.ts';
import type { Followers } from './followers.ts';

export const FOLLOW_LOG_PATH = '/api/follow/log';
export const FOLLOW_BACKUP_PATH = '/api/follow/backup';
export const FOLLOW_PROGRESS_PATH = '/api/follow/progress';
/** A name may be that of a machine. */
export const FOLLOWER_NAME_LENGTH_MAX = 100;

/** Whether the caller's token is still good for it. */
type MayFollow = (exchange: Exchange) => boolean;

export function followRoutes(followers: Followers, mayFollow: MayFollow): readonly HttpRoute[] {
  return [
    logRoute(followers, mayFollow), backupRoute(followers, mayFollow), progressRoute(followers),
  ];
}

const UUID = { kind: 'string', format: 'uuid' } as const satisfies Schema;

const PARAMETERS = [
  {
    name: 'after', in: 'query', schema: COUNT, isRequired: true,
    description: 'The last transaction of the copy',
  },
  {
    name: 'epoch', in: 'query', schema: UUID, isRequired: true,
    description: 'The last epoch of the copy: it tells whether this log continues it',
  },
  {
    name: 'copy', in: 'query', schema: UUID, isRequired: true,
    description: 'The identifier of the copy',
  },
  {
    name: 'name', in: 'query', schema: { ...TEXT, maxLength: FOLLOWER_NAME_LENGTH_MAX },
    description: 'What the follower is called in the status',
  },
] as const satisfies readonly ParameterSpec[];

const HEADERS = ['Content-Type', 'application/jsonl', 'Cache-Control', 'no-store, no-transform',
  'X-Accel-Buffering', 'no'] as const;

function logRoute(followers: Followers, mayFollow: MayFollow): HttpRoute {
  return {
    method: 'GET', path: FOLLOW_LOG_PATH, operationId: 'followLog', access: 'follow',
    summary: 'The transactions after one as lines of a journal, once committed: secrets too',
    parameters: PARAMETERS, isLongLived: true,
    responses: [
      {
        status: 200, mediaType: 'application/jsonl', schema: TEXT,
        description: 'Transactions without end, and a mark where all were sent, or every 5 s; 410 '
          + 'where the log does not go back so far, 412 where the copy is of another history, 409 '
          + 'where an engine keeps the log',
      },
      ...problemResponses(400, 409, 410, 412, 503),
    ],
    async handle(exchange) {
      const { place, position } = parseFollowRequest(exchange);
      const { request, response } = exchange;
      if (request.method === 'HEAD') return exchange.sendStream(200, HEADERS, () => null);
      const log = await followers.open(place, position, {
        mayFollow: () => mayFollow(exchange), cut: () => response.destroy(),
      });
      const leave = (): void => followers.leave(place.copy, log);
      response.once('close', leave);
      if (response.destroyed) leave();
      // A follower reads until its process ends, and never ends its side before that.
      request.socket.once('end', leave);
      exchange.log.info('a follower has connected', { ...place, ...position });
      try {
        return await exchange.sendStream(200, HEADERS, () => log.pull());
      } finally {
        // The connection may be used again.
        request.socket.off('end', leave);
        leave();
        exchange.log.info('a follower has gone', { name: place.name, copy: place.copy });
      }
    },
  };
}

function backupRoute(followers: Followers, mayFollow: MayFollow): HttpRoute {
  return {
    method: 'GET', path: FOLLOW_BACKUP_PATH, operationId: 'followBackup', access: 'follow',
    summary: 'A backup as data:backup makes it, for a copy to begin with: secrets too',
    isLongLived: true,
    responses: [
      {
        status: 200, mediaType: 'application/x-tar', schema: TEXT,
        description: 'The files of the data directory, and their manifest',
      },
      ...problemResponses(409, 503, 507),
    ],
    async handle(exchange) {
      const headers = ['Content-Type', 'application/x-tar', 'Cache-Control', 'no-store',
        'Content-Disposition', 'attachment; filename="hookshelf.tar"'];
      if (exchange.request.method === 'HEAD') return exchange.sendStream(200, headers, () => null);
      const backup = await followers.openBackup({ mayFollow: () => mayFollow(exchange) });
      try {
        await exchange.sendStream(200, headers, backup.pull);
      } finally {
        backup.close();
      }
    },
  };
}

const PROGRESS: ObjectSchema = {
  kind: 'object', name: 'FollowProgress',
  members: {
    copy: { schema: UUID, isRequired: true },
    sequence: { schema: COUNT, isRequired: true },
  },
};

function progressRoute(followers: Followers): HttpRoute {
  return {
    method: 'POST', path: FOLLOW_PROGRESS_PATH, operationId: 'tellFollowProgress',
    summary: 'Tell which transactions are on the disk of a copy that follows', access: 'follow',
    body: { mediaTypes: [JSON_TYPE], schema: PROGRESS },
    responses: [{ status: 204, description: 'Noted' }, ...problemResponses(400, 404, 415, 422)],
    async handle(exchange) {
      const { copy, sequence } = parseObject(PROGRESS, await exchange.readJson());
      followers.confirm(String(copy), isCount(sequence) ? sequence : 0);
      exchange.send(204, []);
    },
  };
}

function parseFollowRequest(
  exchange: Exchange,
): { readonly place: FollowerPlace; readonly position: EpochPosition } {
  const { after: sequence, epoch, copy, name } = readQuery(exchange.search, PARAMETERS);
  if (sequence === null || !epoch || copy === null || !isUuid(copy)) {
    throw new AppError('malformed', '`after`, `epoch` and `copy` must be given: data:follow asks '
      + 'with them');
  }
  if (name !== null && name.length > FOLLOWER_NAME_LENGTH_MAX) {
    throw new AppError('malformed', `\`name\` has at most ${FOLLOWER_NAME_LENGTH_MAX} characters, `
      + `not as in ${quote(name)}`);
  }
  return {
    place: { copy, name: name || exchange.clientAddress, address: exchange.clientAddress },
    position: { epoch, sequence },
  };
}
