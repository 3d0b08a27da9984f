import type { CelNode, CelParser } from '#sandbox';
import { type Gvk, gvkOf } from '#util/gvk.ts';
import { isJsonObject, type JsonObject, pointerTo } from '#util/json.ts';
import { sha256Hex } from '#util/sha256.ts';
import type { ImportReport } from '../import-report.ts';
import { invalidCel, piecesOf } from './text-pieces.ts';

/** An expression that is the whole value of a field. */
export interface Expression {
  /** `resources.web.includeWhen[0]` */
  readonly name: string;
  readonly pointer: string;
  /** Offset of the CEL source in the text. */
  readonly offset: number;
  readonly cel: string;
  readonly node: CelNode;
}

export interface Loop {
  readonly variable: string;
  readonly list: Expression;
}

/** One entry of `resources`. */
export interface GraphResource {
  readonly id: string;
  /** `resources.web` */
  readonly name: string;
  readonly pointer: string;
  readonly gvk: Gvk;
  /** A template makes a child, a reference reads an object. */
  readonly role: 'child' | 'read';
  /** The manifest, or the reference. */
  readonly body: JsonObject;
  readonly bodyPointer: string;
  /** Conditions, all of which must hold. */
  readonly includeWhen: readonly Expression[];
  readonly readyWhen: readonly Expression[];
  readonly loops: readonly Loop[];
  /** Other resources see a list of objects. */
  readonly isList: boolean;
}

/** Ids of definitions have at most 40 characters: a longer one ends with a hash. */
export function definitionId(id: string): string {
  return id.length <= 40 ? id : `${id.slice(0, 30)}${sha256Hex(id).slice(0, 10)}`;
}

/** The difference of a shortened id. */
export function shortId(id: string): string {
  return `the id has at most 40 characters: "${definitionId(id)}"`;
}

interface ReadContext {
  readonly report: ImportReport;
  readonly parse: CelParser;
}

const resourceFields: ReadonlySet<string> = new Set([
  'id',
  'template',
  'externalRef',
  'includeWhen',
  'readyWhen',
  'forEach',
]);

/** Reads `resources`. Those that cannot be used are reported and missing. */
export function readResources(resources: unknown, context: ReadContext): readonly GraphResource[] {
  if (!Array.isArray(resources)) return [];
  return resources.flatMap((value: unknown, index) => {
    const resource = readResource(value, pointerTo('/spec/resources', index), context);
    return resource === undefined ? [] : [resource];
  });
}

function readResource(
  value: unknown,
  pointer: string,
  context: ReadContext,
): GraphResource | undefined {
  const { report } = context;
  const id = isJsonObject(value) ? value.id : undefined;
  if (!isJsonObject(value) || typeof id !== 'string' || !/^[a-z][A-Za-z0-9]*$/.test(id)) {
    report.leftOut(
      { name: 'resources[]', pointer },
      'The resource has no "id" of letters and digits',
    );
    return undefined;
  }
  const name = `resources.${id}`;
  for (const field of Object.keys(value).filter((each) => !resourceFields.has(each)))
    report.leftOut(
      { name: `${name}.${field}`, pointer: pointerTo(pointer, field), isKey: true },
      `The field "${field}" is not known`,
    );
  const role = value.template === undefined ? 'read' : 'child';
  const field = role === 'child' ? 'template' : 'externalRef';
  const body = value[field];
  const bodyPointer = pointerTo(pointer, field);
  const kind = isJsonObject(body) ? kindOf(body) : undefined;
  if (!isJsonObject(body) || kind === undefined) {
    report.leftOut({ name, pointer }, `The ${field} needs a literal "apiVersion" and "kind"`);
    return undefined;
  }
  const readList = (list: string) =>
    readExpressions(
      value[list],
      { name: `${name}.${list}`, pointer: pointerTo(pointer, list) },
      context,
    );
  const includeWhen = readList('includeWhen');
  const readyWhen = readList('readyWhen') ?? [];
  const loops = readLoops(
    value.forEach,
    { name: `${name}.forEach`, pointer: pointerTo(pointer, 'forEach') },
    context,
  );
  if (includeWhen === undefined || loops === undefined) {
    report.leftOut({ name, pointer }, 'Its "includeWhen" or "forEach" cannot be read');
    return undefined;
  }
  const isList =
    loops.length > 0 ||
    (role === 'read' && isJsonObject(body.metadata) && body.metadata.selector !== undefined);
  return {
    id,
    name,
    pointer,
    gvk: kind,
    role,
    body,
    bodyPointer,
    includeWhen,
    readyWhen,
    loops,
    isList,
  };
}

function kindOf({ apiVersion, kind }: JsonObject): Gvk | undefined {
  if (typeof apiVersion !== 'string' || typeof kind !== 'string') return undefined;
  return /\$\{/.test(apiVersion + kind) ? undefined : gvkOf(apiVersion, kind);
}

interface Place {
  readonly name: string;
  readonly pointer: string;
}

/** A list of expressions. Undefined: one of them cannot be read, which is reported. */
function readExpressions(
  list: unknown,
  place: Place,
  context: ReadContext,
): readonly Expression[] | undefined {
  if (!Array.isArray(list)) return [];
  const found = list.map((text: unknown, index) =>
    readExpression(
      text,
      { name: `${place.name}[${index}]`, pointer: pointerTo(place.pointer, index) },
      context,
    ),
  );
  return found.every((each) => each !== undefined) ? found : undefined;
}

function readLoops(list: unknown, place: Place, context: ReadContext): readonly Loop[] | undefined {
  if (!Array.isArray(list)) return [];
  const loops = list.flatMap((dimension: unknown, index) =>
    Object.entries(isJsonObject(dimension) ? dimension : {}).map(([variable, text]) => {
      const pointer = pointerTo(pointerTo(place.pointer, index), variable);
      const expression = readExpression(
        text,
        { name: `${place.name}.${variable}`, pointer },
        context,
      );
      return expression && { variable, list: expression };
    }),
  );
  return loops.every((each) => each !== undefined) ? loops : undefined;
}

/** A text that is one expression. Undefined: it is reported. */
function readExpression(text: unknown, place: Place, context: ReadContext): Expression | undefined {
  const { report, parse } = context;
  const pieces = typeof text === 'string' ? piecesOf(text.trim()) : [];
  const [piece] = pieces;
  if (typeof text !== 'string' || pieces.length !== 1 || piece?.kind !== 'expression') {
    report.leftOut(place, 'Expected one expression in "${ }"');
    return undefined;
  }
  const offset = piece.offset + text.length - text.trimStart().length;
  const parsed = parse(piece.cel);
  if ('node' in parsed) return { ...place, offset, cel: piece.cel, node: parsed.node };
  report.leftOut({ ...place, offset: offset + parsed.offset }, invalidCel(parsed.problem));
  return undefined;
}
