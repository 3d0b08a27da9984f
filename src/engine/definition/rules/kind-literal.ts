import { type JsonObject, pointerTo } from '#util/json.ts';
import { isHomeostatKey } from '#util/kube-object.ts';
import type { Finding } from '../finding.ts';
import { describeFound, fieldOf, mapAt } from '../tree.ts';
import { containsExpression } from './rule.ts';

/** A group and a version, or a version of the core group, which starts with `v` and a digit. */
const apiVersionPattern = /^(?:[a-z0-9.-]+\/[a-z][a-z0-9-]*|v\d[a-z0-9]*)$/;

/** `apiVersion` and `kind` are literals: the kinds of a definition must be known before it runs. */
export function* checkKindLiteral(options: {
  readonly parent: JsonObject;
  readonly path: string;
  readonly field: string;
  /** May it be an expression? @default undefined: no */
  readonly choosesKind?: boolean;
}): Iterable<Finding> {
  const { parent, path, field, choosesKind } = options;
  const value = fieldOf(parent, field);
  const at = pointerTo(path, field);
  if (value === undefined) {
    const other = Object.keys(parent).find((key) => key.toLowerCase() === field.toLowerCase());
    yield {
      code: 'missing-field',
      path: at,
      at: 'parent-key',
      message: `Missing field "${field}"`,
      hint: other === undefined ? undefined : `Write "${field}" instead of "${other}"`,
    };
  } else if (typeof value !== 'string' || value === '') {
    yield {
      code: 'wrong-type',
      path: at,
      message: `Expected a string, found ${describeFound(value)}`,
    };
  } else if (containsExpression(value)) {
    if (choosesKind === true) return;
    yield {
      code: 'forbidden-expression',
      path: at,
      message: `"${field}" cannot be an expression, found ${describeFound(value)}`,
      hint:
        choosesKind === undefined
          ? 'Write one entry for each kind; use "when" to choose a child'
          : 'List the kinds that it may return: "kinds: [apps/v1/Deployment, apps/v1/StatefulSet]"',
    };
  } else if (field === 'apiVersion' && !apiVersionPattern.test(value)) {
    const message = `Expected a version such as "v1" or "apps/v1", found ${describeFound(value)}`;
    const lower = value.toLowerCase();
    const hint = apiVersionPattern.test(lower) ? `Write "${lower}"` : undefined;
    yield { code: 'invalid-value', path: at, message, hint };
  } else if (field === 'kind' && !/^[A-Z][A-Za-z0-9]*$/.test(value)) {
    const message = `Expected a kind in CamelCase such as "ConfigMap", found ${describeFound(value)}`;
    yield { code: 'invalid-value', path: at, message };
  }
}

/**
 * The top-level keys of a manifest and of its metadata are literals. A computed key could be one that is validated in
 * advance (`kind`, `namespace`, `labels`).
 */
export function* checkLiteralKeys(map: JsonObject, path: string): Iterable<Finding> {
  for (const key of Object.keys(map)) {
    if (key !== '$literal' && !containsExpression(key)) continue;
    yield {
      code: 'forbidden-expression',
      path: pointerTo(path, key),
      at: 'key',
      message: `Top-level keys of a manifest and of its metadata cannot be computed, found "${key}"`,
      hint: 'Write the key as a literal; its value may be an expression',
    };
  }
}

/** Labels and annotations under `homeostat.dev/` are reserved. Computed ones are checked when they are rendered. */
export function* checkReservedNames(metadata: JsonObject, path: string): Iterable<Finding> {
  for (const field of ['labels', 'annotations', 'labels/$literal', 'annotations/$literal']) {
    for (const key of Object.keys(mapAt(metadata, `/${field}`))) {
      if (!isHomeostatKey(key)) continue;
      yield {
        code: 'invalid-value',
        path: pointerTo(`${path}/${field}`, key),
        at: 'key',
        message: `Names under "homeostat.dev/" are reserved for Homeostat, found "${key}"`,
      };
    }
  }
}
