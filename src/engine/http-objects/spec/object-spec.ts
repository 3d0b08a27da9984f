import type { LeafParser } from '#compile/language/index.ts';
import { didYouMean } from '#util/did-you-mean.ts';
import { parseDurationMs } from '#util/duration.ts';
import { isJsonObject, type Json, type JsonObject, pointerTo } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { HttpMethod } from '../kinds/http-endpoint.ts';
import { type ContentType, httpObjectSchema } from '../kinds/http-object.ts';
import { fieldSchema } from '../kinds/schema.ts';
import { checkSchema } from './check-schema.ts';
import { type Code, compileCode } from './code-field.ts';
import { fieldPathOf } from './field-path.ts';
import { headerProblems, overrideProblems } from './header-names.ts';
import { ruleProblems } from './object-rules.ts';
import { metadataParameters, type PathTemplate, parsePath } from './path-template.ts';
import { errorAt, type SpecProblem } from './problem.ts';
import { type ValueSource, valueSourceOf } from './value-source.ts';

/** A valid `HttpObject`. */
export interface ObjectSpec {
  readonly endpoint: string;
  readonly params: Readonly<Record<string, string | number | boolean>>;
  /** Parameters whose values may contain slashes. */
  readonly slashesIn: readonly string[];
  readonly inputs: Readonly<Record<string, ValueSource>>;
  readonly desired: JsonObject;
  /** By field path, the name of the input. */
  readonly secretFields: Readonly<Record<string, string>>;
  readonly ignore: readonly string[];
  readonly observe: RequestTemplate & { readonly result: Code };
  readonly find: FindTemplate | undefined;
  readonly create: RequestTemplate | undefined;
  readonly update: RequestTemplate | undefined;
  readonly delete: RequestTemplate | undefined;
  readonly id: Code | undefined;
  readonly write: 'WhenDifferent' | 'WhenChanged';
  /** 0: only after changes. */
  readonly everyMs: number;
  readonly ready: Code | undefined;
  readonly values: Readonly<Record<string, Code>>;
  readonly secret: SecretTemplate | undefined;
  readonly onSecretLost: 'Wait' | 'Recreate';
  readonly adopt: 'Never' | 'IfFound';
  readonly deletionPolicy: 'Delete' | 'Orphan';
  /** Undefined: `Wait`, and `Orphan` while the namespace is deleted. */
  readonly whenGone: 'Wait' | 'Orphan' | undefined;
  readonly onIdentityChange: 'Hold' | 'Replace';
  readonly idempotencyKey: boolean;
  readonly absent: Code | undefined;
  readonly error: Code | undefined;
}

export interface RequestTemplate {
  readonly method: HttpMethod;
  readonly path: PathTemplate;
  readonly query: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string>>;
  readonly contentType: ContentType;
}

export interface FindTemplate extends RequestTemplate {
  readonly results: Code;
  /** Field paths that are equal in `desired` and in the object. */
  readonly match: readonly string[];
}

export interface SecretTemplate {
  readonly name: string;
  readonly data: Readonly<Record<string, Code>>;
}

export interface DecodedObject {
  /** Undefined: it has errors. */
  readonly spec: ObjectSpec | undefined;
  readonly problems: readonly SpecProblem[];
}

const defaultEveryMs = 600_000;
const minEveryMs = 10_000;

/** Decodes an `HttpObject`. All errors are reported at once. Pure. */
export function decodeObject(object: KubeObject, parser: LeafParser): DecodedObject {
  const raw = isJsonObject(object.spec) ? object.spec : {};
  const specSchema = fieldSchema(httpObjectSchema, 'spec') ?? {};
  const found = checkSchema(raw, specSchema, '/spec');
  if (found.some(({ code }) => code !== 'unknown-field'))
    return { spec: undefined, problems: found };
  const decoder = new Decoder(raw, parser);
  const spec = decoder.decode();
  const decoded = [...found, ...decoder.problems];
  // A field that cannot be read is not reported as missing.
  const rules = (spec === undefined ? [] : ruleProblems(spec)).filter(
    (rule) => !decoded.some(({ path }) => path === rule.path),
  );
  const problems = [...decoded, ...rules];
  const isValid = problems.every(({ severity }) => severity === 'warning');
  return { spec: isValid ? spec : undefined, problems };
}

/** Reads the parts of a spec that has the form of the schema. */
class Decoder {
  readonly problems: SpecProblem[] = [];
  readonly #raw: JsonObject;
  readonly #parser: LeafParser;
  readonly #parameters: readonly string[];

  constructor(raw: JsonObject, parser: LeafParser) {
    this.#raw = raw;
    this.#parser = parser;
    this.#parameters = ['id', ...metadataParameters, ...Object.keys(mapAt(raw, 'params'))];
  }

  decode(): ObjectSpec | undefined {
    const raw = this.#raw;
    const observe = this.#request('observe', 'GET');
    const result = this.#code(mapAt(raw, 'observe').result ?? '$( body )', '/spec/observe/result');
    const inputs = this.#inputs();
    const spec = {
      endpoint: String(mapAt(raw, 'endpoint').name),
      params: mapAt(raw, 'params') as ObjectSpec['params'],
      slashesIn: (raw.slashesIn ?? []) as readonly string[],
      inputs,
      desired: mapAt(raw, 'desired'),
      secretFields: this.#secretFields(inputs),
      ignore: this.#fieldPaths(raw.ignore, '/spec/ignore'),
      find: this.#find(),
      create: this.#request('create', 'POST'),
      update: this.#request('update', 'PUT'),
      delete: this.#request('delete', 'DELETE'),
      id: this.#optional('id'),
      write: (raw.write ?? 'WhenDifferent') as ObjectSpec['write'],
      everyMs: this.#every(),
      ready: this.#optional('ready'),
      values: this.#codes(raw.values, '/spec/values'),
      secret: this.#secret(),
      onSecretLost: (raw.onSecretLost ?? 'Wait') as ObjectSpec['onSecretLost'],
      adopt: (raw.adopt ?? 'Never') as ObjectSpec['adopt'],
      deletionPolicy: (raw.deletionPolicy ?? 'Delete') as ObjectSpec['deletionPolicy'],
      whenGone: raw.whenGone as ObjectSpec['whenGone'],
      onIdentityChange: (raw.onIdentityChange ?? 'Hold') as ObjectSpec['onIdentityChange'],
      idempotencyKey: raw.idempotencyKey === true,
      absent: this.#optional('absent'),
      error: this.#optional('error'),
    };
    this.#checkParams();
    this.#checkBody();
    if (observe === undefined || result === undefined) return undefined;
    return { ...spec, observe: { ...observe, result } };
  }

  #request(field: string, method: HttpMethod): RequestTemplate | undefined {
    const raw = this.#raw[field];
    if (!isJsonObject(raw)) return undefined;
    const at = `/spec/${field}`;
    const parsed = parsePath(String(raw.path), `${at}/path`, this.#parameters);
    this.problems.push(...headerProblems(raw.headers, `${at}/headers`));
    this.problems.push(...overrideProblems(raw.query, `${at}/query`));
    if ('problem' in parsed) {
      this.problems.push(parsed.problem);
      return undefined;
    }
    return {
      method: (raw.method ?? method) as HttpMethod,
      path: parsed.template,
      query: mapAt(raw, 'query') as RequestTemplate['query'],
      headers: mapAt(raw, 'headers') as RequestTemplate['headers'],
      contentType: (raw.contentType ?? 'json') as ContentType,
    };
  }

  #find(): FindTemplate | undefined {
    const request = this.#request('find', 'GET');
    const raw = mapAt(this.#raw, 'find');
    if (request === undefined) return undefined;
    const results = this.#code(raw.results ?? '$( body )', '/spec/find/results');
    const match = this.#fieldPaths(raw.match, '/spec/find/match');
    return results && { ...request, results, match };
  }

  #secret(): SecretTemplate | undefined {
    const raw = this.#raw.secret;
    if (!isJsonObject(raw)) return undefined;
    return { name: String(raw.name), data: this.#codes(raw.data, '/spec/secret/data') };
  }

  #inputs(): Readonly<Record<string, ValueSource>> {
    const entries = Object.entries(mapAt(this.#raw, 'inputs')).flatMap(([name, value]) => {
      const source = valueSourceOf(value);
      return source === undefined ? [] : [[name, source] as const];
    });
    return Object.fromEntries(entries);
  }

  #secretFields(inputs: ObjectSpec['inputs']): Readonly<Record<string, string>> {
    const raw = mapAt(this.#raw, 'secretFields');
    for (const [path, input] of Object.entries(raw)) {
      const at = pointerTo('/spec/secretFields', path);
      if (fieldPathOf(path) === undefined)
        this.problems.push(errorAt(at, `Expected a path such as "auth.password", found "${path}"`));
      if (!Object.hasOwn(inputs, String(input)))
        this.problems.push(
          errorAt(at, `Expected the name of an entry of "inputs", found "${String(input)}"`),
        );
    }
    return raw as ObjectSpec['secretFields'];
  }

  #fieldPaths(raw: Json | undefined, path: string): readonly string[] {
    const paths = (raw ?? []) as readonly string[];
    for (const [index, each] of paths.entries())
      if (fieldPathOf(each) === undefined)
        this.problems.push(
          errorAt(
            pointerTo(path, index),
            `Expected a path such as "auth.password", found "${each}"`,
          ),
        );
    return paths;
  }

  #every(): number {
    const everyMs = parseDurationMs(String(this.#raw.every ?? '')) ?? defaultEveryMs;
    if (everyMs > 0 && everyMs < minEveryMs)
      this.problems.push(errorAt('/spec/every', 'Expected "0", or a duration of at least "10s"'));
    return everyMs;
  }

  #checkParams(): void {
    const params = mapAt(this.#raw, 'params');
    const slashesIn = (this.#raw.slashesIn ?? []) as readonly string[];
    for (const [index, name] of slashesIn.entries())
      if (!Object.hasOwn(params, name))
        this.problems.push(
          errorAt(
            pointerTo('/spec/slashesIn', index),
            `Expected the name of an entry of "params", found "${name}"`,
            didYouMean(name, Object.keys(params)),
          ),
        );
    for (const name of Object.keys(params))
      if (!/^[A-Za-z][\w-]*$/.test(name) || name === 'id' || name === 'metadata')
        this.problems.push(
          errorAt(
            pointerTo('/spec/params', name),
            `Expected the name of a parameter, found "${name}"`,
          ),
        );
  }

  #checkBody(): void {
    for (const field of ['desired', 'secretFields'])
      this.problems.push(...overrideProblems(mapAt(this.#raw, field), `/spec/${field}`));
  }

  #optional(field: string): Code | undefined {
    const raw = this.#raw[field];
    return raw === undefined ? undefined : this.#code(raw, `/spec/${field}`);
  }

  #codes(raw: Json | undefined, path: string): Readonly<Record<string, Code>> {
    const entries = Object.entries(isJsonObject(raw) ? raw : {}).flatMap(([name, text]) => {
      const code = this.#code(text, pointerTo(path, name));
      return code === undefined ? [] : [[name, code] as const];
    });
    return Object.fromEntries(entries);
  }

  #code(text: Json | undefined, path: string): Code | undefined {
    const result = compileCode(String(text), path, this.#parser);
    if ('code' in result) return result.code;
    this.problems.push(result.problem);
    return undefined;
  }
}

function mapAt(raw: JsonObject, field: string): JsonObject {
  const value = raw[field];
  return isJsonObject(value) ? value : {};
}
