import type { JsonObject } from '../../util/json.ts';
import { pointerTo } from '../../util/json-pointer.ts';
import type { Finding } from '../finding.ts';
import { mapsAt } from '../tree.ts';
import { checkKindLiteral } from './kind-literal.ts';
import type { Rule } from './rule.ts';
import { checkSelector } from './selector.ts';

/** A read says which objects it means: one by name, or a list by a selector that selects on purpose. */
export const checkReads: Rule = function* (document) {
  for (const { value: read, path } of mapsAt(document, '/spec/reads')) {
    for (const field of ['apiVersion', 'kind']) {
      if (Object.hasOwn(read, field)) yield* checkKindLiteral({ holder: read, path, field });
    }
    yield* checkChoice(read, path);
    if (Object.hasOwn(read, 'selector')) {
      yield* checkSelector(read.selector, pointerTo(path, 'selector'), {
        all: 'objects of the kind',
      });
    }
  }
};

function* checkChoice(read: JsonObject, path: string): Iterable<Finding> {
  const hasName = Object.hasOwn(read, 'name');
  const hasSelector = Object.hasOwn(read, 'selector');
  if (hasName && hasSelector) {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'selector'),
      at: 'key',
      message: 'A read is by "name" or by "selector", found both',
    };
  } else if (!hasName && !hasSelector) {
    yield {
      code: 'missing-field',
      path: pointerTo(path, 'name'),
      at: 'parent-key',
      message: 'A read needs "name" or "selector", found neither',
      hint: 'Write "selector: all" to read all objects of the kind',
    };
  }
  if (hasName && read.name === '') {
    yield {
      code: 'invalid-value',
      path: pointerTo(path, 'name'),
      message: 'Expected a name, found an empty text',
    };
  }
}
