import type { KubeError } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { sha256Hex } from '../../util/sha256.ts';
import type { StatusRejection } from '../attempt/attempt-ledger.ts';
import { statusRejection, whyNotStatus } from '../attempt/limiter.ts';
import { problemOfRequest } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import { type StatusOutcome, writeLastStatus, writeStatus } from '../resource/write-status.ts';
import { ofResource } from '../secrecy.ts';
import { type Report, withoutMapped } from './build-report.ts';
import { lastMapped } from './map-status.ts';

/** What was reported in the end, and what came of it. */
export interface Reported {
  readonly report: Report;
  readonly status: StatusOutcome;
}

/**
 * Writes the status. A server refuses it as a whole for one invalid field: then it is written once more with the
 * author's fields as they were, so that `Ready` tells why. The same fields are not sent again before `retry.permanent`.
 */
export async function writeReport(pass: Pass, report: Report): Promise<Reported> {
  const known = knownRejection(pass, report);
  if (known !== undefined) return tellRejection(pass, report, known);
  pass.state.attempts.status.rejection = undefined;
  const status = await writeLastStatus(pass, report.status);
  if (!isRejected(status) || !hasNews(pass, report)) return { report, status };
  const rejection = rejectionOf(pass, report, status.error);
  const told = await tellRejection(pass, report, rejection);
  // Refused again: it was not for the author's fields, or not for them alone.
  return isRejected(told.status) ? { report, status } : told;
}

/** The rejection that would be repeated. */
function knownRejection(pass: Pass, report: Report): StatusRejection | undefined {
  const isKnown = pass.state.attempts.status.rejection !== undefined;
  return isKnown && hasNews(pass, report) ? whyNotStatus(pass, digestOf(report)) : undefined;
}

async function tellRejection(
  pass: Pass,
  report: Report,
  rejection: StatusRejection,
): Promise<Reported> {
  const told = withoutMapped(pass, report, rejection.problem);
  const status = await writeStatus(pass, told.status);
  const isTaken = !isRejected(status);
  pass.state.attempts.status.rejection = isTaken ? rejection : undefined;
  return { report: isTaken ? told : report, status };
}

function rejectionOf(pass: Pass, report: Report, error: KubeError): StatusRejection {
  const problem = problemOfRequest(error, { about: ofResource(pass.context.plan) });
  return statusRejection(pass, digestOf(report), {
    ...problem,
    message: `status: ${problem.message}`,
  });
}

/** Are the author's fields to be others than they are? */
function hasNews(pass: Pass, { mapped }: Report): boolean {
  return !deepEqual(mapped.fields, lastMapped(pass));
}

function isRejected(status: StatusOutcome): status is Extract<StatusOutcome, { kind: 'failed' }> {
  if (status.kind !== 'failed' || !status.error.isPermanent) return false;
  return status.error.code === 'rejected' || status.error.code === 'denied';
}

function digestOf({ mapped }: Report): string {
  return sha256Hex(canonicalJson(mapped.fields));
}
