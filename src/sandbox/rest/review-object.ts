import { invariant } from '../../util/invariant.ts';
import type { WriteRequest } from './create-object.ts';
import { readBody, withRequestNamespace } from './read-body.ts';
import type { RestAnswer, RestContext, Target } from './rest-context.ts';

/** POST of a question: it is answered in its status, and forgotten. */
export function reviewObject(
  context: RestContext,
  target: Target,
  { text, contentType, options }: WriteRequest,
): RestAnswer {
  const { kind } = target;
  const { review } = kind;
  invariant(review !== undefined, `Nobody reviews ${kind.names.plural}`);
  const { manager, fieldValidation } = options;
  const body = readBody(context, target, { text, contentType, fieldValidation });
  const asked = withRequestNamespace(target, body.object);
  const owned = kind.fieldManager('').update({ live: undefined, next: asked, manager });
  return { code: 201, body: kind.normalise(review(owned)), warnings: body.warnings };
}
