import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { mapsAt } from '../tree.ts';
import { holdsExpression } from './expression-text.ts';
import type { Rule } from './rule.ts';

/** Written in every pass by Homeostat itself. */
const standardTypes: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled']);

/** As the API has it for conditions. */
const typePattern =
  /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const reasonPattern = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const eventReasonPattern = /^[A-Za-z][A-Za-z0-9]{0,127}$/;

/** Conditions besides the standard ones: each type once. Reasons of conditions and Events that are written out are words. */
export const checkReported: Rule = function* (document) {
  const seen = new Set<string>();
  for (const { value, path } of mapsAt(document, '/spec/conditions')) {
    const { type, status, reason } = value;
    if (typeof type === 'string') yield* checkType(type, pointerTo(path, 'type'), seen);
    yield* checkStatus(status, pointerTo(path, 'status'));
    yield* checkReason(reason, pointerTo(path, 'reason'), reasonPattern);
  }
  for (const { value, path } of mapsAt(document, '/spec/events')) {
    yield* checkReason(value.reason, pointerTo(path, 'reason'), eventReasonPattern);
  }
};

function* checkType(type: string, path: string, seen: Set<string>): Iterable<Finding> {
  if (standardTypes.has(type)) {
    const message = `Condition "${type}" is written by Homeostat alone`;
    yield { code: 'invalid-value', path, message, hint: 'Choose another type' };
  } else if (type.length > 316 || !typePattern.test(type)) {
    const message = `Expected the type of a condition such as "Available", found ${found(type)}`;
    yield { code: 'invalid-value', path, message };
  } else if (seen.has(type)) {
    yield { code: 'duplicate-id', path, message: `Condition "${type}" is there twice` };
  }
  seen.add(type);
}

function* checkStatus(status: unknown, path: string): Iterable<Finding> {
  if (typeof status !== 'string' || holdsExpression(status)) return;
  if (['True', 'False', 'Unknown'].includes(status)) return;
  const message = `Expected true, false, "Unknown" or an expression, found ${found(status)}`;
  const hint = `Write ${plainStatus(status.trim())}`;
  yield { code: 'invalid-value', path, message, hint };
}

/** What was meant by a word that YAML 1.1, or a condition as the API shows it, has for a truth. */
function plainStatus(status: string): string {
  if (/^(?:true|yes|on)$/i.test(status)) return 'true, without quotes';
  if (/^(?:false|no|off)$/i.test(status)) return 'false, without quotes';
  if (/^unknown$/i.test(status)) return '"Unknown"';
  return `"\${ ${status} }"`;
}

function* checkReason(reason: unknown, path: string, pattern: RegExp): Iterable<Finding> {
  if (typeof reason !== 'string' || holdsExpression(reason) || pattern.test(reason)) return;
  const message = `Expected a reason in CamelCase such as "MinimumReplicas", found ${found(reason)}`;
  yield { code: 'invalid-value', path, message };
}
