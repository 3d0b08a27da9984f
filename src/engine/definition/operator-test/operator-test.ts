import type { Json, JsonObject } from '#util/json.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { SourceMap } from '../finding.ts';
import type { ApiExpectation, TestApiChange, TestHttpApi } from './test-apis.ts';

/** A test of operators: what is done to a cluster step by step, and what must be true after each step. */
export interface OperatorTest {
  readonly name: string;
  /** Files or folders, relative to the test's file. @default undefined: the folder above that of the file */
  readonly definitions?: readonly string[];
  /** Objects that exist before the operators start. */
  readonly given: readonly TestObjects[];
  /** Simulated HTTP APIs. */
  readonly apis: readonly TestHttpApi[];
  readonly steps: readonly TestStep[];
  readonly source: SourceMap;
  /** The document as written. */
  readonly document: JsonObject;
}

/** The cluster of a test that is no member. */
export const testHub = 'hub';

/** An object to apply, or a file with objects, relative to the test's file. */
export type TestObjects = {
  /** Name of a `Cluster`, or {@link testHub}. */
  readonly cluster: string;
} & ({ readonly object: KubeObject } | { readonly file: string });

/** Everything that a step does, in the order of the fields; then its expectations must hold. */
export interface TestStep {
  readonly name: string;
  /** JSON pointer of the step in its document. */
  readonly pointer: string;
  /** Where `patch`, `delete` and `outcome` are done: name of a `Cluster`, or {@link testHub}. */
  readonly cluster: string;
  /** Members whose API servers stop responding, and respond again. */
  readonly clusters?: { readonly stop: readonly string[]; readonly start: readonly string[] };
  /** What happens to a simulated HTTP API. */
  readonly api?: TestApiChange;
  readonly apply: readonly TestObjects[];
  readonly patch?: TestPatch;
  /** `Kind/name`. */
  readonly delete: readonly string[];
  /** What simulated Pods with these labels do from now on. */
  readonly outcome?: {
    readonly pods: Readonly<Record<string, string>>;
    readonly is: 'ready' | 'never-ready' | 'fail';
  };
  /** Requests of the operator that the server answers with an error. */
  readonly fail?: TestFailure;
  /** The API server must reject every `apply`, `patch` and `delete`, with this text in its message. @default undefined: it must accept them */
  readonly denied?: string;
  /** How much time passes before the expectations are checked, in ms. @default 0 */
  readonly advanceMs: number;
  /** Are the operators stopped and started again? */
  readonly restart: boolean;
  /** File that takes the place of the definitions, relative to the test's file. */
  readonly definition?: string;
  readonly expect: readonly Expectation[];
  /** Time in which the expectations must come true, in ms. @default 5_000 */
  readonly withinMs: number;
}

export interface TestPatch {
  /** `Kind/name`. */
  readonly target: string;
  /** JSON merge patch. */
  readonly merge: JsonObject;
  /** Field manager. @default 'kubectl' */
  readonly as?: string;
}

export interface TestFailure {
  /** `cluster`: name of a `Cluster`, or {@link testHub}. @default requests to any cluster */
  readonly requests: { readonly verb?: string; readonly kind?: string; readonly cluster?: string };
  /** HTTP status. */
  readonly with: number;
  /** How many requests fail. @default 1 */
  readonly times: number;
}

/**
 * What must be true. `pointer`: of the expectation in its document. `cluster`: where the object is; `writes` and `nothingLeft` are about
 * all clusters.
 */
export type Expectation = { readonly pointer: string; readonly cluster: string } & (
  | { readonly kind: 'object'; readonly object: KubeObject }
  | { readonly kind: 'absent'; readonly absent: KubeObject }
  | { readonly kind: 'condition'; readonly of: string; readonly fields: JsonObject }
  | { readonly kind: 'status'; readonly of: string; readonly is: JsonObject }
  | { readonly kind: 'event'; readonly of: string; readonly fields: JsonObject }
  | { readonly kind: 'writes'; readonly count: Json }
  | { readonly kind: 'nothingLeft' }
  | ApiExpectation
);
