/** Explains which routes of a webhook take a request, and why the others do not. Pure. */
import { explainCondition, type FailedCondition } from '../members/filters/explain-condition.ts';
import type { Facts } from '../members/filters/facts.ts';
import type { WebhookRoute } from './routes-member.ts';

type RouteExplanation = {
  readonly name: string;
  readonly matches: boolean;
  readonly failed: readonly FailedCondition[];
};

const SHOWN_CONDITIONS_MAX = 10;

export function explainRoutes(
  routes: readonly Pick<WebhookRoute, 'name' | 'when'>[], facts: Facts,
): readonly RouteExplanation[] {
  return routes.map(({ name, when }, index) => {
    const failed = when === undefined ? []
      : explainCondition(when, facts, `/routes/${index}/when`);
    return { name, matches: failed.length === 0, failed };
  });
}

/**
 * Says in one line why no route takes a request: `payload.a is 1, wanted: eq 2`. Where there are
 * several routes, each condition stands behind the name of its route.
 */
export function formatFailedConditions(explanations: readonly RouteExplanation[]): string {
  const reasons = explanations.flatMap(({ name, failed }) => failed.map(({ detail }) =>
    explanations.length === 1 ? detail : `${name}: ${detail}`));
  const shownReasons = reasons.slice(0, SHOWN_CONDITIONS_MAX).join('; ');
  return reasons.length > SHOWN_CONDITIONS_MAX ? `${shownReasons}; …` : shownReasons;
}
