import { pointerTo } from '#util/json.ts';
import { standardStatusFields } from '../crd/standard-status.ts';
import type { Finding } from '../finding.ts';
import { booleanMeant, describeFound, fieldOf, mapAt, mapsAt } from '../tree.ts';
import { manifestListPaths } from './namespaces.ts';
import { containsExpression, isSingleExpression, type Rule } from './rule.ts';

const expectations: Readonly<Record<string, string>> = {
  when: 'true, false or one expression "${ ... }"',
  ready: 'true, false or one expression "${ ... }"',
  gate: 'true, false or one expression "${ ... }"',
  deleteWhen: 'true, false or one expression "${ ... }"',
  forEach: 'a list or one expression "${ ... }" that returns a list',
};

/** A string value of a condition or list field must be a single expression. */
export const checkSingleExpressions: Rule = function* (document) {
  for (const list of [...manifestListPaths, '/spec/patches', '/spec/events']) {
    for (const { value, path } of mapsAt(document, list)) {
      for (const field of Object.keys(expectations)) {
        yield* checkSingleExpression(fieldOf(value, field), pointerTo(path, field), field);
      }
    }
  }
};

function* checkSingleExpression(value: unknown, path: string, field: string): Iterable<Finding> {
  if (typeof value !== 'string' || isSingleExpression(value)) return;
  yield {
    code: 'wrong-type',
    path,
    message: `Expected ${expectations[field]}, found ${describeFound(value)}`,
    hint: expressionHint(value.trim(), field),
  };
}

/** How expressions begin: with a root name or a function, maybe in brackets. */
const rootPattern =
  /^[(-]*(?:(?:spec|status|metadata|children|observed|reads|vars|definition)\b|\$\w)/;

function expressionHint(value: string, field: string): string | undefined {
  const word = booleanMeant(value);
  if (word !== undefined) return field === 'forEach' ? undefined : `Write ${word}, without quotes`;
  const template = /^\{\{\s*([\w.]+)\s*\}\}$/.exec(value)?.[1];
  const bare = template ?? value;
  const negated = /^not\s+(\S+)$/.exec(bare)?.[1];
  if (negated !== undefined) return `Write "\${ $not(${negated}) }"`;
  return rootPattern.test(bare) && !/[{}]/.test(bare) ? `Write "\${ ${bare} }"` : undefined;
}

/** `status` does not map the fields that Homeostat always writes. */
export const checkStatusFields: Rule = function* (document) {
  const status = mapAt(document, '/spec/status');
  for (const field of standardStatusFields) {
    if (!Object.hasOwn(status, field)) continue;
    yield {
      code: 'invalid-name',
      path: pointerTo('/spec/status', field),
      at: 'key',
      message: `"status.${field}" is always written by Homeostat and cannot be mapped`,
      hint:
        field === 'conditions'
          ? 'Define your conditions under "spec.conditions"'
          : 'Choose another name',
    };
  }
};

/** Written by Homeostat in every reconcile. */
const standardTypes: ReadonlySet<string> = new Set(['Ready', 'Reconciling', 'Stalled']);

/** The patterns of metav1.Condition. */
const typePattern =
  /^(?:[a-z0-9](?:[-a-z0-9]*[a-z0-9])?(?:\.[a-z0-9](?:[-a-z0-9]*[a-z0-9])?)*\/)?(?:[A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$/;
const reasonPattern = /^[A-Za-z](?:[A-Za-z0-9_,:]*[A-Za-z0-9_])?$/;
const eventReasonPattern = /^[A-Za-z][A-Za-z0-9]{0,127}$/;

/** Condition types are unique and not standard. Literal reasons of conditions and Events are in CamelCase. */
export const checkConditionsAndEvents: Rule = function* (document) {
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
    const message = `Condition "${type}" is reserved for Homeostat`;
    yield { code: 'invalid-value', path, message, hint: 'Choose another type' };
  } else if (type.length > 316 || !typePattern.test(type)) {
    const message = `Expected a condition type such as "Available", found ${describeFound(type)}`;
    yield { code: 'invalid-value', path, message };
  } else if (seen.has(type)) {
    yield { code: 'duplicate-id', path, message: `Condition "${type}" is defined twice` };
  }
  seen.add(type);
}

function* checkStatus(status: unknown, path: string): Iterable<Finding> {
  if (typeof status !== 'string' || containsExpression(status)) return;
  if (['True', 'False', 'Unknown'].includes(status)) return;
  const message = `Expected true, false, "Unknown" or an expression, found ${describeFound(status)}`;
  const hint = `Write ${suggestedStatus(status.trim())}`;
  yield { code: 'invalid-value', path, message, hint };
}

/** Suggests a value for boolean words and for condition statuses. */
function suggestedStatus(status: string): string {
  const word = booleanMeant(status);
  if (word !== undefined) return `${word}, without quotes`;
  if (/^unknown$/i.test(status)) return '"Unknown"';
  return `"\${ ${status} }"`;
}

function* checkReason(reason: unknown, path: string, pattern: RegExp): Iterable<Finding> {
  if (typeof reason !== 'string' || containsExpression(reason) || pattern.test(reason)) return;
  const message = `Expected a reason in CamelCase such as "MinimumReplicas", found ${describeFound(reason)}`;
  yield { code: 'invalid-value', path, message };
}
