import { parseDurationMs } from '../util/duration.ts';
import type { JsonObject } from '../util/json.ts';
import type { ChildDefinition, OnDeleteDefinition } from './operator-definition.ts';
import { fieldOf, mapsAt } from './tree.ts';

const defaultTimeoutMs = 600_000;

/** `spec.onDelete` with its defaults, and where its children stand; undefined when it asks for nothing. */
export function resolveOnDelete(
  written: JsonObject,
  resolveChild: (child: JsonObject) => ChildDefinition | undefined,
): { readonly definition: OnDeleteDefinition; readonly pointers: readonly string[] } | undefined {
  if (Object.keys(written).length === 0) return undefined;
  const children = mapsAt(written, '/children').flatMap(({ value, path }) => {
    const child = resolveChild(value);
    return child === undefined ? [] : [{ child, pointer: `/spec/onDelete${path}` }];
  });
  const timeout = fieldOf(written, 'timeout');
  const timeoutMs = typeof timeout === 'string' ? parseDurationMs(timeout) : undefined;
  const definition: OnDeleteDefinition = {
    children: children.map(({ child }) => child),
    order: written.order === 'Parallel' ? 'Parallel' : 'Reverse',
    timeoutMs: timeoutMs ?? defaultTimeoutMs,
    onTimeout: written.onTimeout === 'Continue' ? 'Continue' : 'Wait',
  };
  return { definition, pointers: children.map(({ pointer }) => pointer) };
}
