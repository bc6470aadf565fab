/** etcd 3.4 or later as the engine of a log: real consensus from three small processes. */
import { systemClock } from '../../../base/clock.ts';
import type { Clock } from '../../../base/clock.ts';
import { AppError } from '../../../base/errors.ts';
import { isJsonObject, listObjects } from '../../../base/fields.ts';
import { Gateway } from './etcd-gateway.ts';
import { ENVELOPE_BYTES } from './etcd-keys.ts';
import type { EtcdOutcome } from './etcd-request.ts';
import { EtcdSession } from './etcd-session.ts';
import { parseEtcdUrl } from './etcd-url.ts';
import type { EtcdEndpoint } from './etcd-url.ts';
import type { Engine } from '../engine.ts';
import { readPasswordFile } from '../password-file.ts';

type EtcdOptions = {
  readonly url: string;
  /** Read at each connection if the URL names a user and no password. Null: there is none. */
  readonly passwordFile?: string | null;
  readonly clock?: Clock;
  /** In [0, 1). */
  readonly random?: () => number;
};

// By default etcd accepts requests of 1.5 MiB, measured in its own encoding, without base64.
const REQUEST_BYTES = 1 << 20;
const SNAPSHOT_BYTES_MAX = 512 << 20;

/** Throws `usage` for a URL that is wrong. Nothing is connected yet. */
export function createEtcdEngine(options: EtcdOptions): Engine {
  const { url, passwordFile = null, clock = systemClock, random = Math.random } = options;
  const address = parseEtcdUrl(url);
  const connect = async (): Promise<EtcdSession> => {
    const needsFile = address.user !== null && address.password === null && passwordFile !== null;
    const password = needsFile ? readPasswordFile(passwordFile) : address.password;
    const gateway = new Gateway({ ...address, password }, clock);
    try {
      await gateway.authenticate();
      gateway.prefer(await chooseMember(gateway));
      const durability = await describeDurability(gateway);
      return new EtcdSession({ gateway, durability, random });
    } catch (error) {
      gateway.close();
      throw error;
    }
  };
  return {
    kind: 'etcd', name: address.name,
    batchBytesMax: REQUEST_BYTES - ENVELOPE_BYTES, maxSnapshotBytes: SNAPSHOT_BYTES_MAX,
    connect,
    async inspect() {
      const session = await connect();
      await session.close();
      return session.durability;
    },
  };
}

/**
 * Chooses the leader, since requests to others are forwarded to it. Chooses any member that answers
 * if the URL does not name the leader. Throws if none answers.
 */
async function chooseMember(gateway: Gateway): Promise<EtcdEndpoint> {
  const { address } = gateway;
  const replies = address.endpoints.map(async (endpoint) =>
    ({ endpoint, outcome: await gateway.askMember(endpoint, '/v3/maintenance/status') }));
  const leaderSearches = replies.map(async (reply) => {
    const { endpoint, outcome } = await reply;
    if (!isLeader(outcome)) throw new AppError('unavailable', 'not the leader');
    return endpoint;
  });
  try {
    return await Promise.any(leaderSearches);
  } catch {
    // No member is the leader: the replies below show a follower, or why nobody answers.
  }
  const allReplies = await Promise.all(replies);
  const follower = allReplies.find(({ outcome }) => outcome.kind === 'answer');
  if (follower !== undefined) return follower.endpoint;
  const [first] = allReplies.map(({ outcome }) => outcome);
  const why = first === undefined || first.kind === 'answer' ? '' : first.message;
  const code = first?.kind === 'refused' ? 'misconfigured' : 'unknown_outcome';
  throw new AppError(code, `${address.name}: none of its members answers: ${why}`);
}

function isLeader(outcome: EtcdOutcome): boolean {
  if (outcome.kind !== 'answer') return false;
  const { header, leader } = outcome.fields;
  return isJsonObject(header) && typeof leader === 'string' && header.member_id === leader;
}

async function describeDurability(gateway: Gateway): Promise<string> {
  const { members } = await gateway.sendRepeatable('/v3/cluster/member/list', {});
  const votingMembers = listObjects(members).filter(({ isLearner }) => isLearner !== true).length;
  if (votingMembers < 2) {
    return 'a write is on the disk of the one etcd member, and is lost with it';
  }
  const majority = Math.floor(votingMembers / 2) + 1;
  return `a write is on the disks of ${majority} of ${votingMembers} etcd members`;
}
