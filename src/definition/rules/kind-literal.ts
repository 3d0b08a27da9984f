import type { JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import { found } from '../describe-value.ts';
import type { Finding } from '../finding.ts';
import { fieldOf } from '../tree.ts';
import { holdsExpression } from './expression-text.ts';

/** A group and a version, or a version of the core group, which starts with `v` and a digit. */
const apiVersionPattern = /^(?:[a-z0-9.-]+\/[a-z][a-z0-9-]*|v\d[a-z0-9]*)$/;

/** `apiVersion` and `kind` are texts without expressions: the kinds of a definition are known before it runs. */
export function* checkKindLiteral(options: {
  readonly holder: JsonObject;
  readonly path: string;
  readonly field: string;
}): Iterable<Finding> {
  const { holder, path, field } = options;
  const value = fieldOf(holder, field);
  const at = pointerTo(path, field);
  if (value === undefined) {
    yield {
      code: 'missing-field',
      path: at,
      at: 'parent-key',
      message: `Missing field "${field}"`,
    };
  } else if (typeof value !== 'string' || value === '') {
    yield { code: 'wrong-type', path: at, message: `Expected a text, found ${found(value)}` };
  } else if (holdsExpression(value)) {
    yield {
      code: 'forbidden-expression',
      path: at,
      message: `"${field}" cannot be an expression, found ${found(value)}`,
      hint: 'Write one for each kind; a child is chosen with "when"',
    };
  } else if (field === 'apiVersion' && !apiVersionPattern.test(value)) {
    const message = `Expected a version such as "v1" or "apps/v1", found ${found(value)}`;
    yield { code: 'invalid-value', path: at, message };
  } else if (field === 'kind' && !/^[A-Z][A-Za-z0-9]*$/.test(value)) {
    const message = `Expected a kind in CamelCase such as "ConfigMap", found ${found(value)}`;
    yield { code: 'invalid-value', path: at, message };
  }
}
