import { after, before } from 'node:test';
import { AuditLog } from './audit-log.ts';
import { type BinarySearch, missingBinariesMessage, searchBinaries } from './binaries.ts';
import { type ControlPlaneOptions, type Plane, startControlPlane } from './control-plane.ts';
import type { PlaneClient } from './plane-client.ts';
import { startSandboxPlane } from './sandbox-plane.ts';

/** The shared control plane of a test file. */
export interface SharedControlPlane {
  /** Pass it to `describe`: false, or why there is no control plane. */
  readonly skip: string | false;
  /** The running plane. Only within tests and hooks. */
  readonly plane: Plane;
  /** Its audit log, if it was asked for. Only within tests and hooks. */
  readonly audit: AuditLog;
  /** A test client; for `admin` unless told. */
  client(user?: string): PlaneClient;
  /** Makes a namespace for one test and returns its name. */
  namespace(): Promise<string>;
}

/**
 * Starts one control plane for a test file and stops it at its end. Where it can be neither found nor
 * built the tests are skipped, loudly; with `CI=true` that is an error. With `HOMEOSTAT_TEST_BACKEND=sandbox` it is a sandbox that plays one.
 * @example
 * const shared = useControlPlane({ audit: true });
 * describe('integration/podset', { skip: shared.skip }, () => {
 *   test('makes a Deployment', async () => {
 *     const namespace = await shared.namespace();
 *     await shared.client().apply(...);
 *   });
 * });
 */
export function useControlPlane(options: ControlPlaneOptions = {}): SharedControlPlane {
  const isSandbox = process.env.HOMEOSTAT_TEST_BACKEND === 'sandbox';
  const skip = isSandbox ? false : reasonToSkip(searchBinaries(), process.env.CI === 'true');
  if (skip !== false) process.stderr.write(`\n*** SKIPPED: ${skip}\n\n`);
  let plane: Plane | undefined;
  let audit: AuditLog | undefined;
  if (skip === false) {
    // The first start of all may have to build the binaries.
    before(
      async () => {
        plane = await (isSandbox ? startSandboxPlane : startControlPlane)(options);
        if (options.audit === true) audit = new AuditLog(plane);
      },
      { timeout: 1_800_000 },
    );
    after(() => plane?.stop());
  }
  return {
    skip,
    get plane() {
      return running(plane, skip);
    },
    get audit() {
      return running(audit, skip);
    },
    client: (user) => running(plane, skip).client(user),
    namespace: () => running(plane, skip).client().createNamespace(),
  };
}

function running<T>(value: T | undefined, skip: string | false): T {
  if (value !== undefined) return value;
  throw new Error(
    skip === false ? 'Not started, or not asked for' : `${skip} (pass "skip" to describe)`,
  );
}

/** False, or why tests have to do without. @throws Error with that reason in CI. */
export function reasonToSkip({ missing, go }: BinarySearch, isCi: boolean): string | false {
  if (missing.length === 0 || go !== undefined) return false;
  const reason = missingBinariesMessage(missing);
  if (isCi) throw new Error(reason);
  return reason;
}
