import type { KubeError } from '../../kube/roles.ts';
import { canonicalJson } from '../../util/canonical-json.ts';
import { deepEqual } from '../../util/deep-equal.ts';
import { sha256Hex } from '../../util/sha256.ts';
import { problemOfRequest } from '../failure.ts';
import type { Pass } from '../pass/pass.ts';
import type { StatusRefusal } from '../resource-state.ts';
import { ofResource } from '../secrecy.ts';
import { type Report, withoutMapped } from './build-report.ts';
import { lastMapped } from './map-status.ts';
import { type StatusOutcome, writeLastStatus, writeStatus } from './write-status.ts';

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
  const known = knownRefusal(pass, report);
  if (known !== undefined) return tellRefusal(pass, report, known);
  pass.state.statusRefused = undefined;
  const status = await writeLastStatus(pass, report.status);
  if (!isRefused(status) || !hasNews(pass, report)) return { report, status };
  const refusal = refusalOf(pass, report, status.error);
  const told = await tellRefusal(pass, report, refusal);
  // Refused again: it was not for the author's fields, or not for them alone.
  return isRefused(told.status) ? { report, status } : told;
}

async function tellRefusal(pass: Pass, report: Report, refusal: StatusRefusal): Promise<Reported> {
  const told = withoutMapped(pass, report, refusal.problem);
  const status = await writeStatus(pass, told.status);
  const isTaken = !isRefused(status);
  pass.state.statusRefused = isTaken ? refusal : undefined;
  return { report: isTaken ? told : report, status };
}

/** The refusal that would be repeated. */
function knownRefusal(pass: Pass, report: Report): StatusRefusal | undefined {
  const { state, context } = pass;
  const { statusRefused } = state;
  if (statusRefused === undefined || !hasNews(pass, report)) return undefined;
  const { permanentMs } = context.plan.definition.controller.retry;
  const againAfterMs = statusRefused.atMs + permanentMs - context.clock.monotonicMs();
  if (againAfterMs <= 0 || statusRefused.digest !== digestOf(report)) return undefined;
  // What is left, and not all of it: a timer that fires too early is followed by a short one.
  return { ...statusRefused, problem: { ...statusRefused.problem, againAfterMs } };
}

function refusalOf(pass: Pass, report: Report, error: KubeError): StatusRefusal {
  const problem = problemOfRequest(error, { about: ofResource(pass.context.plan) });
  return {
    digest: digestOf(report),
    problem: { ...problem, message: `status: ${problem.message}` },
    atMs: pass.context.clock.monotonicMs(),
  };
}

/** Are the author's fields to be others than they are? */
function hasNews(pass: Pass, { mapped }: Report): boolean {
  return !deepEqual(mapped.fields, lastMapped(pass));
}

function isRefused(status: StatusOutcome): status is Extract<StatusOutcome, { kind: 'failed' }> {
  if (status.kind !== 'failed' || !status.error.isPermanent) return false;
  return status.error.code === 'rejected' || status.error.code === 'denied';
}

function digestOf({ mapped }: Report): string {
  return sha256Hex(canonicalJson(mapped.fields));
}
