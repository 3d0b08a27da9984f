import { findingOf } from '#check';
import { createDefaultLeafParser, type LeafParser } from '#compile';
import { arrangeDiagnostics, type LocatedObject, locate } from '#definition';
import {
  decodeEndpoint,
  decodeObject,
  endpointRequests,
  httpEndpointGvk,
  httpObjectGvk,
  objectRequests,
  type PlannedRequest,
  type SpecProblem,
} from '#http-objects';
import { didYouMean } from '#util/did-you-mean.ts';
import { gvkKey, gvkOf } from '#util/gvk.ts';
import { CliError, exitCode } from '../exit-code.ts';
import type { Output } from '../output.ts';
import { printDiagnostics } from '../print-diagnostics.ts';
import { readLocatedFiles } from './read-files.ts';

export interface HttpFlags {
  /** More files, which may have the endpoints. */
  readonly file?: readonly string[];
  readonly output: 'text' | 'json';
}

/** The requests of one object. */
interface Planned {
  readonly title: string;
  readonly endpoint: string;
  readonly requests: readonly PlannedRequest[];
}

/**
 * `homeostat http FILE`: prints the requests that the objects of kind `HttpObject` of a file would send. Nothing is sent.
 * @returns the exit code: 1 when an object has errors, or its endpoint is in none of the files.
 * @throws CliError for files that cannot be read.
 */
export async function http(path: string, flags: HttpFlags, output: Output): Promise<number> {
  const main = await readLocatedFiles([path], output);
  const more = flags.file === undefined ? undefined : await readLocatedFiles(flags.file, output);
  const objects = main.objects.filter((each) => isOf(each, httpObjectGvk));
  const endpoints = [...main.objects, ...(more?.objects ?? [])].filter((each) =>
    isOf(each, httpEndpointGvk),
  );
  if (objects.length === 0)
    throw new CliError(`There is no HttpObject in "${path}"`, {
      hint: 'For those of a definition: homeostat render DEFINITION RESOURCE | homeostat http -',
    });
  const parser = createDefaultLeafParser();
  const problems: Problem[] = [];
  const planned = objects.flatMap((each) => plan(each, { endpoints, parser, problems }) ?? []);
  const diagnostics = arrangeDiagnostics(
    problems.map(({ at, problem }) => locate(findingOf(problem, at.pointer), at.source)),
  );
  printDiagnostics(diagnostics, [...main.manifests, ...(more?.manifests ?? [])], output);
  if (flags.output === 'json') output.print(JSON.stringify(planned, null, 2));
  else for (const each of planned) output.print(textOf(each));
  const isWrong = diagnostics.some(({ severity }) => severity === 'error');
  return isWrong ? exitCode.failure : exitCode.ok;
}

interface Problem {
  readonly at: LocatedObject;
  readonly problem: SpecProblem;
}

interface PlanOptions {
  readonly endpoints: readonly LocatedObject[];
  readonly parser: LeafParser;
  readonly problems: Problem[];
}

function plan(located: LocatedObject, options: PlanOptions): Planned | undefined {
  const { endpoints, parser, problems } = options;
  const { object } = located;
  const note = (at: LocatedObject, found: readonly SpecProblem[]) =>
    void problems.push(...found.map((problem) => ({ at, problem })));
  const decoded = decodeObject(object, parser);
  note(located, decoded.problems);
  if (decoded.spec === undefined) return undefined;
  const { spec } = decoded;
  const inNamespace = endpoints.filter((each) => namespaceOf(each) === namespaceOf(located));
  const found = inNamespace.find((each) => each.object.metadata.name === spec.endpoint);
  if (found === undefined) {
    note(located, [missingEndpoint(spec.endpoint, inNamespace)]);
    return undefined;
  }
  const endpoint = decodeEndpoint(found.object, parser);
  note(found, endpoint.problems);
  if (endpoint.spec === undefined) return undefined;
  const { requests, failure } = objectRequests(object, spec, endpoint.spec);
  if (failure !== undefined)
    note(located, [{ severity: 'error', path: '/spec/params', message: failure }]);
  return {
    title: `HttpObject "${object.metadata.name}"`,
    endpoint: `HttpEndpoint "${spec.endpoint}"`,
    requests: [...endpointRequests(endpoint.spec), ...requests],
  };
}

function missingEndpoint(name: string, known: readonly LocatedObject[]): SpecProblem {
  const names = known.map(({ object }) => object.metadata.name);
  return {
    severity: 'error',
    path: '/spec/endpoint/name',
    message: `There is no HttpEndpoint "${name}" in these files`,
    hint: didYouMean(name, names) ?? 'Name its file with "-f FILE"',
  };
}

function textOf({ title, endpoint, requests }: Planned): string {
  return [`${title} of ${endpoint}`, ...requests.map(requestText)].join('\n\n');
}

function requestText({ role, method, url, headers, body, notes }: PlannedRequest): string {
  const lines = [
    ...notes.map((note) => `# ${note}`),
    ...Object.entries(headers).map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : ['', ...bodyText(body).split('\n')]),
  ];
  return [
    `${role.padEnd(8)}${method} ${url}`,
    ...lines.map((line) => `        ${line}`.trimEnd()),
  ].join('\n');
}

function bodyText(body: string): string {
  return body.startsWith('{') ? JSON.stringify(JSON.parse(body), null, 2) : body;
}

function isOf({ object: { apiVersion, kind } }: LocatedObject, gvk: typeof httpObjectGvk): boolean {
  return gvkKey(gvkOf(apiVersion, kind)) === gvkKey(gvk);
}

function namespaceOf({ object }: LocatedObject): string {
  return object.metadata.namespace ?? 'default';
}
