import { readFileSync } from 'node:fs';
import type { Profiler } from 'node:inspector';
import { Session } from 'node:inspector/promises';
import { pathToFileURL } from 'node:url';
import type { JsonObject } from '#util/json.ts';
import {
  AuditLog,
  type SandboxPlane,
  startSandboxPlane,
} from '../../test/support/control-plane/index.ts';
import { InProcessHomeostat } from '../../test/support/in-process-homeostat.ts';
import { fromRoom } from '../imports/rooms.ts';

/**
 * The functions that run from an edit of a resource until its status is written, counted by the profiler: not only the steps of the
 * reconcile, but everything below them (rendering, comparison of values, caches, metrics), and all work of the process meanwhile. The child
 * changes, too, so its response enqueues the resource again: two reconciles.
 */
export interface EditPath {
  /** By file, from its room on: names of its methods and functions that ran, without functions that have no name. */
  readonly functionsByFile: ReadonlyMap<string, readonly string[]>;
  /** Requests of the edit, without those of definitions. */
  readonly requests: number;
}

/** The numbers of functions and files in one room, or in all. */
export function sizeOfPath(
  { functionsByFile }: Pick<EditPath, 'functionsByFile'>,
  room?: string,
): { readonly functions: number; readonly files: number } {
  const found = [...functionsByFile].filter(
    ([file]) => room === undefined || file.startsWith(`${room}/`),
  );
  return { functions: found.flatMap(([, names]) => names).length, files: found.length };
}

/** So long the runtime sends nothing before the edit. */
const quietMs = 5_000;
const path = '/apis/apps.example.com/v1alpha1/namespaces/default/podsets/edited';

/** Edits a PodSet on a sandbox in this process and counts what of `src` runs until its status is written; what is of the sandbox aside. */
export async function measureEditPath(): Promise<EditPath> {
  const plane = (await startSandboxPlane({ audit: true })) as SandboxPlane;
  const text = readFileSync('operators/podset.yaml', 'utf8');
  const homeostat = new InProcessHomeostat({
    plane,
    user: 'operator',
    definitions: { 'podset.yaml': text },
  });
  try {
    await homeostat.whenReady();
    const apply = (size: number) => plane.client().apply(podSet(size));
    await untilReported(plane, await apply(1));
    // The second edit finds everything warm: what is done once is not of its path.
    await untilReported(plane, await apply(2));
    const audit = new AuditLog(plane);
    // The status of the definition follows later, and is not of the edit.
    await audit.quiet(quietMs, { ofDefinitions: true });
    const since = audit.mark();
    const session = new Session();
    session.connect();
    await session.post('Profiler.enable');
    await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
    await untilReported(plane, await apply(3));
    const { result } = await session.post('Profiler.takePreciseCoverage');
    session.disconnect();
    const { total: requests } = audit.count({ since });
    return { functionsByFile: functionsIn(result), requests };
  } finally {
    await homeostat.stop();
    await plane.stop();
  }
}

function podSet(size: number) {
  return {
    apiVersion: 'apps.example.com/v1alpha1',
    kind: 'PodSet',
    metadata: { name: 'edited', namespace: 'default' },
    spec: { size },
  };
}

async function untilReported(plane: SandboxPlane, applied: object | undefined): Promise<void> {
  const { generation } = (applied as { readonly metadata: { readonly generation: number } })
    .metadata;
  await plane
    .client()
    .untilObject(
      path,
      (object) => (object?.status as JsonObject | undefined)?.observedGeneration === generation,
    );
}

function functionsIn(result: readonly Profiler.ScriptCoverage[]): EditPath['functionsByFile'] {
  const source = pathToFileURL('src/').href;
  const sandbox = pathToFileURL('src/sandbox/').href;
  const functionsByFile = new Map<string, readonly string[]>();
  for (const { url, functions } of result.toSorted((a, b) => (a.url < b.url ? -1 : 1))) {
    if (!url.startsWith(source) || url.startsWith(sandbox)) continue;
    const names = functions
      .filter(({ functionName, ranges }) => functionName !== '' && (ranges[0]?.count ?? 0) > 0)
      .map(({ functionName }) => functionName);
    if (names.length > 0) functionsByFile.set(fromRoom(url.slice(source.length)), names);
  }
  return functionsByFile;
}
