import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { type CrdKind, createDefinitionParser } from '#definition';
import type { ApiRequest, Sandbox } from '#sandbox';
import { startSandboxServer } from '#sandbox/node/index.ts';
import type { KubeObject } from '#util/kube-object.ts';
import {
  launch,
  type SupervisedProcess,
} from '../test/support/control-plane/supervised-process.ts';
import { BenchFailure } from './bench-failure.ts';
import { benchSandbox } from './sandbox/bench-sandbox.ts';

/** What Homeostat sends for one new resource, in order. A client that replays it replaces `name` and `uid` by those of its resources. */
export interface RecordedWrites {
  /** The kind as Homeostat installs it: what a write costs a server depends on its schema. */
  readonly crd: KubeObject;
  readonly name: string;
  readonly uid: string;
  readonly writes: readonly RecordedWrite[];
}

export interface RecordedWrite {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  readonly contentType: string;
  readonly body: string;
}

export interface RecordOptions {
  /** The program and its first arguments that run Homeostat. */
  readonly command: readonly string[];
  /** A file with one definition that has a CRD of its own. */
  readonly definition: string;
  /** For the kubeconfig and the state of the process. */
  readonly folder: string;
}

/** As long as a name of the rig, and in no body by chance. */
const name = 'qz-00000';
const basePath = '/recorded-for-the-bench';
/** The writes of the resource are complete when none has come for so long. */
const quietMs = 1_000;
const limitMs = 60_000;
/** In the log of a process that runs on without the definition. */
const rejected = '"msg":"Definition rejected"';

/**
 * Runs Homeostat with one resource on a sandbox without controllers (the rig's control plane has none either) and records what it
 * writes to the resource and to its child. Events are left out.
 * @throws BenchFailure when the process ends, rejects the definition, or writes no status in time.
 */
export async function recordWrites(options: RecordOptions): Promise<RecordedWrites> {
  const sandbox = benchSandbox({ controllers: false, basePath });
  const { crd, ...served } = kindOf(options.definition);
  create(sandbox, '/apis/apiextensions.k8s.io/v1/customresourcedefinitions', crd);
  const uid = createResource(sandbox, served);
  const writes: RecordedWrite[] = [];
  const handle = (request: ApiRequest) => {
    if (isWriteOfResource(request)) writes.push(recorded(request));
    return sandbox.handle(request);
  };
  const server = await startSandboxServer({ sandbox: { ...sandbox, handle }, basePath });
  let output = '';
  const homeostat = await start(options, server.url, (text) => {
    output += text;
  });
  try {
    const failure = await failureOrComplete(writes, () => {
      if (!homeostat.isRunning()) return 'it has ended';
      return output.includes(rejected) ? 'it rejects the definition' : undefined;
    });
    if (failure !== undefined)
      throw new BenchFailure(
        `The writes of Homeostat cannot be recorded, ${failure}:\n${output.slice(-3_000)}`,
      );
    return { crd, name, uid, writes: [...writes] };
  } finally {
    await homeostat.stop(10_000);
    await server.stop();
    sandbox.stop();
  }
}

function kindOf(file: string): CrdKind {
  const [found] = createDefinitionParser().parse(readFileSync(file, 'utf8'), file).definitions;
  const kind = found?.definition.kind;
  if (kind?.source !== 'crd') throw new Error(`Expected a definition with a CRD in ${file}`);
  return kind;
}

/** Returns the UID of the resource. */
function createResource(sandbox: Sandbox, kind: Pick<CrdKind, 'gvk' | 'plural'>): string {
  const { gvk, plural } = kind;
  const apiVersion = `${gvk.group}/${gvk.version}`;
  const resource = { apiVersion, kind: gvk.kind, metadata: { name }, spec: { size: 1 } };
  const collection = `/apis/${apiVersion}/namespaces/default/${plural}`;
  return create(sandbox, collection, resource).metadata.uid ?? '';
}

function create(sandbox: Sandbox, path: string, object: KubeObject): KubeObject {
  const { status, body } = sandbox.handle({
    method: 'POST',
    path,
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(object),
  });
  if (status !== 201) throw new Error(`Expected 201 for ${path}, got ${status}: ${body}`);
  return JSON.parse(String(body));
}

function start(
  { command, definition, folder }: RecordOptions,
  server: string,
  onOutput: (text: string) => void,
): Promise<SupervisedProcess> {
  const kubeconfig = join(folder, 'recording.kubeconfig');
  const config = {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'it',
    clusters: [{ name: 'it', cluster: { server } }],
    users: [{ name: 'it', user: {} }],
    contexts: [{ name: 'it', context: { cluster: 'it', user: 'it', namespace: 'default' } }],
  };
  writeFileSync(kubeconfig, JSON.stringify(config));
  const [program = '', ...first] = command;
  const flags = ['--kubeconfig', kubeconfig, '--definitions', definition, '--http', '127.0.0.1:0'];
  return launch({
    command: program,
    args: [...first, 'run', ...flags],
    onOutput,
    onErrors: onOutput,
  });
}

/** The resource and its child have its name; Events have others. */
function isWriteOfResource({ method, path }: ApiRequest): boolean {
  return method !== 'GET' && path.includes(`/${name}`) && !path.includes('/events');
}

function recorded({ method, path, headers, body }: ApiRequest): RecordedWrite {
  const { 'content-type': contentType = '' } = headers;
  return { method, path, contentType, body };
}

/** Resolves when the writes are complete, or with the reason why they will not be. */
async function failureOrComplete(
  writes: readonly RecordedWrite[],
  failure: () => string | undefined,
): Promise<string | undefined> {
  const deadlineMs = performance.now() + limitMs;
  let seen = { count: 0, atMs: performance.now() };
  for (;;) {
    const nowMs = performance.now();
    if (writes.length > seen.count) seen = { count: writes.length, atMs: nowMs };
    const hasStatus = writes.some(({ path }) => path.includes('/status'));
    if (hasStatus && nowMs - seen.atMs >= quietMs) return undefined;
    const reason = failure() ?? (nowMs > deadlineMs ? `no status in ${limitMs} ms` : undefined);
    if (reason !== undefined) return reason;
    await sleep(50);
  }
}
