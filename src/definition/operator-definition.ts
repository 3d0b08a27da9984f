/**
 * The typed, frozen operator definition with all defaults filled in. CONTRACT between definition, compile and runtime.
 * The format is specified in docs/definition.md; fields whose behaviour comes later are refused before they get here and have no place in these types yet.
 */
import type { Gvk } from '../util/gvk.ts';
import type { JsonObject } from '../util/json.ts';
import type { KubeObject } from '../util/kube-object.ts';

export interface OperatorDefinition {
  /** `metadata.name`: the definition's identity, a DNS label. */
  readonly name: string;
  /** First 10 hex digits of the SHA-256 of the canonical `spec` with defaults. */
  readonly revision: string;
  readonly kind: ServedKind;
  readonly vars: Readonly<Record<string, Template>>;
  readonly reads: readonly ReadDefinition[];
  readonly children: readonly ChildDefinition[];
  /** Templates by status field; never one of the fields that are always written. */
  readonly status: Readonly<Record<string, Template>>;
  readonly controller: ControllerOptions;
}

/** A YAML tree whose string leaves may hold expressions, as written. */
export type Template = unknown;

/** The kind that the operator serves: the storage version of its CRD. */
export interface ServedKind {
  readonly gvk: Gvk;
  readonly plural: string;
  readonly scope: 'Namespaced' | 'Cluster';
  /** The complete CustomResourceDefinition to install: defaults of definition.md section 1 filled in, standard status fields and printer columns added; our label is added by the runtime. */
  readonly crd: KubeObject;
  /** `openAPIV3Schema` of the storage version, as installed. */
  readonly schema: JsonObject;
  readonly crdPolicy: CrdPolicy;
}

export interface CrdPolicy {
  /** Take over a CRD that exists and does not carry our label. @default false */
  readonly adopt: boolean;
}

export interface ReadDefinition {
  readonly id: string;
  readonly gvk: Gvk;
  /** By name (a template that gives a string), or by selector. */
  readonly by:
    | { readonly kind: 'name'; readonly name: Template }
    /** `selector: all` is an empty selector said on purpose. */
    | { readonly kind: 'selector'; readonly selector: SelectorTemplate | 'all' };
  /** Absent is a missing value instead of something to wait for. @default false */
  readonly optional: boolean;
}

export interface SelectorTemplate {
  /** A map whose values (or the whole map) may be expressions. */
  readonly matchLabels?: Template;
  readonly matchExpressions?: Template;
}

export interface ChildDefinition {
  readonly id: string;
  readonly gvk: Gvk;
  readonly template: Template;
  /** @default undefined: always wanted */
  readonly when?: Template;
  readonly forEach?: Template;
  /** Ids that must be ready first. @default [] */
  readonly after: readonly string[];
  /** Expression over `$child`. @default undefined: readiness by kind */
  readonly ready?: Template;
  /** @default 'Force' */
  readonly conflicts: 'Force' | 'Report';
}

export interface ControllerOptions {
  /** Resources worked on at once. @default 10 */
  readonly concurrency: number;
  /** @default 36_000_000 (10 h) */
  readonly resyncMs: number;
  readonly retry: {
    /** @default 5 */
    readonly initialMs: number;
    /** @default 1_000_000 */
    readonly maxMs: number;
    /** How long a permanent failure waits. @default 600_000 */
    readonly permanentMs: number;
  };
}
