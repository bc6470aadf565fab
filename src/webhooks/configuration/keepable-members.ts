/**
 * The members that an apply may leave to those who change them by hand: all that a customer may
 * change of his webhook with a token of the scope `write`, but `enabled`, which is left to him in
 * any case. A file of its own: the rows of the commands must not load the models.
 */
export const KEEPABLE_MEMBERS = [
  'secret', 'targetUrl', 'headers', 'description', 'rate', 'maxInFlight',
] as const;
