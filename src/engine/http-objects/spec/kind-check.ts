import type { LeafParser } from '#compile/language/index.ts';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { type Json, pointerSteps } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import { httpEndpointGvk, httpEndpointSchema } from '../kinds/http-endpoint.ts';
import { httpObjectGvk, httpObjectSchema } from '../kinds/http-object.ts';
import { isLiteralField, isPathField } from '../kinds/literal-fields.ts';
import type { KindSchema } from '../kinds/schema.ts';
import { compileCode } from './code-field.ts';
import { decodeEndpoint } from './endpoint-spec.ts';
import { matchProblems } from './match-problems.ts';
import { decodeObject } from './object-spec.ts';
import { paramProblems } from './param-problems.ts';
import { type SpecProblem, suspicious } from './problem.ts';
import { textsIn } from './texts.ts';

/** What is known about one of the kinds without a cluster. */
export interface HttpKindCheck {
  /** `HttpObject` */
  readonly name: string;
  /** Of the whole object. */
  readonly schema: KindSchema;
  /** All problems of an object. Pure. */
  readonly problems: (object: KubeObject, parser: LeafParser) => readonly SpecProblem[];
}

/** The check of a kind. Undefined: it is another kind. */
export function httpKindCheckOf(object: {
  readonly apiVersion?: unknown;
  readonly kind?: unknown;
}): HttpKindCheck | undefined {
  const key = gvkKey(gvkOf(String(object.apiVersion), String(object.kind)));
  if (key === gvkKey(httpObjectGvk))
    return kindCheck(httpObjectGvk.kind, httpObjectSchema, decodeObject);
  if (key === gvkKey(httpEndpointGvk))
    return kindCheck(httpEndpointGvk.kind, httpEndpointSchema, decodeEndpoint);
  return undefined;
}

function kindCheck(
  name: string,
  schema: KindSchema,
  decode: typeof decodeObject | typeof decodeEndpoint,
): HttpKindCheck {
  return {
    ...{ name, schema },
    problems: (object, parser) => {
      const { problems } = decode(object, parser);
      const unknown = problems.filter(({ code }) => code === 'unknown-field');
      const data = dataProblems(name, object.spec as Json | undefined, parser);
      return [
        ...problems,
        ...(name === httpObjectGvk.kind ? objectProblems(object.spec as Json | undefined) : []),
        ...data.filter(({ path }) => !unknown.some((each) => path.startsWith(each.path))),
      ];
    },
  };
}

/** What would only be found when the first request is sent. */
function objectProblems(spec: Json | undefined): readonly SpecProblem[] {
  return [...matchProblems(spec), ...paramProblems(spec)];
}

/** Texts that look like code where all texts are data. */
function dataProblems(
  kind: string,
  spec: Json | undefined,
  parser: LeafParser,
): readonly SpecProblem[] {
  return [...textsIn(spec ?? {}, '/spec')].flatMap(([path, text]) => {
    if (!text.includes('$(')) return [];
    const steps = pointerSteps(path).slice(1);
    const isLiteral = isLiteralField(kind, steps);
    if (isLiteral && isPathField(steps))
      return [
        suspicious(
          path,
          '"$( )" is not evaluated in a path',
          'Write "{id}", or "{name}" for an entry of "params"',
        ),
      ];
    if (isLiteral || !('code' in compileCode(text, path, parser))) return [];
    return [
      suspicious(
        path,
        '"$( )" is data here: it is evaluated in code fields only',
        'Code fields are "result", "results", "id", "token", "lifetimeSeconds", "ready", "absent", "error", and those of "values" and "secret.data"',
      ),
    ];
  });
}
