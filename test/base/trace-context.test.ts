import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  addTraceHeaders, readTraceContext, readTraceId,
} from '../../src/base/trace-context.ts';

const TRACE_ID = '4bf92f3577b34da6a3ce929d0e0e4736';
const PARENT = `00-${TRACE_ID}-00f067aa0ba902b7-01`;
const ZEROS = '0'.repeat(32);

const VALID = [
  PARENT, `00-${TRACE_ID}-00f067aa0ba902b7-00`, `00-${TRACE_ID}-00f067aa0ba902b7-ff`,
  `01-${TRACE_ID}-00f067aa0ba902b7-01`, `cc-${TRACE_ID}-00f067aa0ba902b7-01-what.the-future`,
  `fe-${TRACE_ID}-00f067aa0ba902b7-01-`,
];
const INVALID = [
  '', 'x', PARENT.toUpperCase(), `${PARENT} `, ` ${PARENT}`, `${PARENT}-`, `${PARENT}-more`,
  `ff-${TRACE_ID}-00f067aa0ba902b7-01`, `00-${ZEROS}-00f067aa0ba902b7-01`,
  `00-${TRACE_ID}-0000000000000000-01`, `00-${TRACE_ID.slice(1)}-00f067aa0ba902b7-01`,
  `00-${TRACE_ID}-00f067aa0ba902b7`, `00-${TRACE_ID}-00f067aa0ba902b7-1`, `${PARENT}, ${PARENT}`,
  `0-${TRACE_ID}-00f067aa0ba902b7-01`, `01-${TRACE_ID}-00f067aa0ba902b7-01.x`,
  `01-${TRACE_ID}-00f067aa0ba902b7-01-${'x'.repeat(300)}`, `00_${TRACE_ID}_00f067aa0ba902b7_01`,
];

test('a valid traceparent is kept as it is, and names its trace', () => {
  for (const traceparent of VALID) {
    assert.deepEqual(readTraceContext({ traceparent }), { traceparent, tracestate: null });
    assert.equal(readTraceId({ traceparent }), TRACE_ID);
  }
});

test('an invalid traceparent is dropped, and its tracestate with it', () => {
  for (const traceparent of [...INVALID, undefined, [PARENT, PARENT]]) {
    assert.equal(readTraceContext({ traceparent, tracestate: 'a=1' }), null, String(traceparent));
    assert.equal(readTraceId({ traceparent }), null);
  }
});

const members = (count: number): string =>
  Array.from({ length: count }, (_, index) => `k${index}=v`).join(',');
const VALID_STATES = [
  'a=1', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE', 'a=1, b=2 ,\tc=3', 'a=1,,b=2', 'a= !~',
  '1a-_*/=x', 'tenant/x@vendor=1', `${'k'.repeat(256)}=${'v'.repeat(256)}`, members(32),
];
const INVALID_STATES = [
  '', ',', 'a', '=1', 'a=', 'A=1', 'a=1,a=2', 'a=b=c', 'a=é', 'a b=1', members(33), '@v=1',
  't@=1', 't@1v=1', `${'k'.repeat(257)}=1`, `a=${'v'.repeat(257)}`, 'a=\u0001', 't@v@w=1',
];

test('a tracestate is kept as it is if it is valid, and else dropped alone', () => {
  for (const tracestate of VALID_STATES) {
    assert.deepEqual(readTraceContext({ traceparent: PARENT, tracestate }),
      { traceparent: PARENT, tracestate });
  }
  for (const tracestate of INVALID_STATES) {
    assert.deepEqual(readTraceContext({ traceparent: PARENT, tracestate }),
      { traceparent: PARENT, tracestate: null }, tracestate);
  }
});

test('headers that name a trace keep theirs', () => {
  const trace = { traceparent: PARENT, tracestate: 'a=1' };
  assert.deepEqual(addTraceHeaders({ b: '2' }, trace), { b: '2', ...trace });
  assert.deepEqual(addTraceHeaders({ traceparent: 'own' }, trace), { traceparent: 'own' });
  assert.deepEqual(addTraceHeaders({ b: '2' }, { ...trace, tracestate: null }),
    { b: '2', traceparent: PARENT });
  assert.deepEqual(addTraceHeaders({ b: '2' }, null), { b: '2' });
});
