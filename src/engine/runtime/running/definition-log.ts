import { diagnosticText } from '#check';
import type { Diagnostic, LocatedDefinition } from '#definition';
import type { Logger } from '#telemetry/roles.ts';
import { changedPaths } from '#util/changed-paths.ts';
import { errorLogFields, HomeostatError } from '#util/homeostat-error.ts';
import type { KubeObject } from '#util/kube-object.ts';
import type { DefinitionTask } from '../definitions/decide.ts';
import type { Rejection } from '../desired-definition.ts';
import type { OperatorSummary } from './operator-summary.ts';

/** The log of one definition. Repetitions are not logged. */
export class DefinitionLog {
  readonly #logger: Logger;
  /** Kinds of resources in a namespace of the runtime, which have been reported. */
  readonly #guardedKinds = new Set<string>();
  /** What breaks by the revision whose CRD was installed last. */
  #broken: { readonly revision: string; readonly reported: Set<string> } | undefined;

  constructor(logger: Logger) {
    this.#logger = logger;
  }

  taskChanged(before: DefinitionTask, task: DefinitionTask): void {
    if (before.kind !== 'run' || task.kind !== 'finalize' || task.uninstall !== undefined) return;
    this.#logger.info(
      { reason: task.message },
      'Definition stopped, its resources and their children are orphaned',
    );
  }

  kindMissing(reason: string): void {
    this.#logger.info({ reason }, 'Definition waits for its kind');
  }

  kindLost(reason: string): void {
    this.#logger.warn({ reason }, 'Definition stopped, will restart');
  }

  /** `failures`: previous failures in a row. */
  startFailed(error: unknown, failures: number): void {
    // Only the first failure in a row is logged as a warning. An unexpected error is a bug.
    const firstLevel = error instanceof HomeostatError ? 'warn' : 'error';
    const level = failures === 0 ? firstLevel : 'debug';
    this.#logger[level](errorLogFields(error), 'Definition cannot start, will retry');
  }

  rejected({ message: reason, diagnostics }: Rejection): void {
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    this.#logger.warn({ reason, ...details }, 'Definition rejected');
  }

  changeRejected({ revision, message: reason, diagnostics }: Rejection): void {
    const details = diagnostics.length === 0 ? {} : { diagnostics };
    this.#logger.warn(
      { revision, reason, ...details },
      'Change rejected, the active revision keeps running',
    );
  }

  /** An unexpected error is a bug; others are shown as a rejection. */
  changeFailed(error: unknown): void {
    if (!(error instanceof HomeostatError))
      this.#logger.error(errorLogFields(error), 'Change failed, will retry');
  }

  changed(
    { definition: before }: LocatedDefinition,
    { definition: after }: LocatedDefinition,
  ): void {
    const changed = changedPaths({ ...before, revision: '' }, { ...after, revision: '' });
    const about = { from: before.revision, revision: after.revision, changed };
    this.#logger.info(about, 'Definition changed');
    this.#broken = undefined;
  }

  /** Once for each revision: a CRD that fails is installed again and again. */
  breakingChange(revision: string, broken: readonly Diagnostic[]): void {
    if (this.#broken?.revision !== revision) this.#broken = { revision, reported: new Set() };
    const { reported } = this.#broken;
    const diagnostics = broken
      .map(({ hint: _, ...each }) => diagnosticText(each))
      .filter((each) => !reported.has(each));
    if (diagnostics.length === 0) return;
    for (const each of diagnostics) reported.add(each);
    this.#logger.warn(
      { diagnostics },
      'A breaking change of the CustomResourceDefinition is installed, as allowed',
    );
  }

  /** `troubledMs`: how long it could not start. Undefined: it could. */
  started(
    { instances, orphaned, problems }: OperatorSummary,
    troubledMs: number | undefined,
  ): void {
    if (orphaned > 0)
      this.#logger.warn(
        { leftInPlace: orphaned },
        'Objects that no longer match the selector keep their children',
      );
    const after = troubledMs === undefined ? {} : { troubledForMs: Math.round(troubledMs) };
    const level = problems.length === 0 ? 'info' : 'warn';
    const details = problems.length === 0 ? {} : { problems };
    this.#logger[level]({ instances, ...after, ...details }, 'Definition running');
  }

  /** Once for each kind: nothing is written to a resource that is not served. */
  guarded({ kind, metadata: { namespace, name } }: KubeObject): void {
    if (this.#guardedKinds.has(kind)) return;
    this.#guardedKinds.add(kind);
    const reason = `To serve the namespace "${namespace}", name it in "controller.namespaces.include" of the definition`;
    this.#logger.info(
      { kind, namespace, name, reason },
      'Resources in a namespace of the runtime are not served',
    );
  }
}
