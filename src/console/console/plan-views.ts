import type { Diagnostic } from '#definition';
import {
  type DefinitionPlan,
  type HeldDeletions,
  type PlannedChange,
  type PresentValue,
  presentValueText,
  type ResourceExplanation,
} from '#plan';
import type { ChangeView, ChildView, DiagnosticView, PreviewView, ResourceView } from '#web';

/** Longer values are cut. */
const maxLength = 2_000;

export function diagnosticViews(diagnostics: readonly Diagnostic[]): readonly DiagnosticView[] {
  return diagnostics.map(({ severity, message, hint, line, column }) => ({
    severity,
    message,
    line,
    column,
    ...(hint !== undefined && { hint }),
  }));
}

/** The children of a resource as the page shows them. */
export function resourceView(explanation: ResourceExplanation): ResourceView {
  const { definition, isReconciled, children, others, changes } = explanation;
  return {
    definition,
    isReconciled,
    children: [
      ...children.flatMap(({ isNameOpen, decisions, expressions }) =>
        decisions.map((decision) =>
          childView(
            decision,
            isNameOpen,
            expressions.map(({ field, text, line, reads }) => ({
              field,
              text,
              line,
              reads: reads.map(({ reference, value }) => ({
                name: reference,
                value: valueText(value),
              })),
            })),
          ),
        ),
      ),
      ...others.map((decision) => childView(decision, true, [])),
    ],
    changes: changes.map(changeView),
  };
}

function childView(
  {
    childId,
    kind,
    apiVersion,
    namespace,
    name,
    verdict,
    state,
    message,
  }: ResourceExplanation['others'][number],
  isNameOpen: boolean,
  expressions: ChildView['expressions'],
): ChildView {
  return {
    id: childId,
    kind,
    apiVersion,
    namespace,
    name: isNameOpen ? name : '',
    verdict: verdict.kind,
    state,
    message,
    expressions,
  };
}

export function changeView({
  action,
  apiVersion,
  kind,
  namespace,
  name,
  losesData,
  fields,
}: PlannedChange): ChangeView {
  return {
    action,
    apiVersion,
    kind,
    name,
    ...(losesData && { losesData }),
    ...(namespace !== undefined && { namespace }),
    fields: fields.map((field) => ({
      path: field.path,
      ...('before' in field && { before: jsonText(field.before) }),
      ...('after' in field && { after: jsonText(field.after) }),
    })),
  };
}

export function previewView({
  rejection,
  crd,
  resources,
  problems,
  heldDeletions,
}: DefinitionPlan): PreviewView {
  return {
    diagnostics: rejection === undefined ? [] : diagnosticViews(rejection.diagnostics),
    problems: [
      ...(rejection === undefined ? [] : [rejection.message]),
      ...(heldDeletions === undefined ? [] : [heldText(heldDeletions)]),
      ...problems,
    ],
    resources: [
      ...(crd === undefined
        ? []
        : [{ title: 'Its kind', changes: [changeView(crd)], unresolved: [] }]),
      ...resources.map(({ kind, namespace, name, changes, unresolved }) => ({
        title: `${kind} ${namespace === undefined ? '' : `${namespace}/`}${name}`,
        changes: changes.map(changeView),
        unresolved: unresolved.map(({ child, message }) => ({ child, message })),
      })),
    ],
  };
}

function heldText({ count, maxDeletions, withData = 0 }: HeldDeletions): string {
  const data = withData === 0 ? '' : `, ${withData} of them with data`;
  return `The deletions wait for approval: ${count === 1 ? '1 object' : `${count} objects`}${data}, "maxDeletions" is ${maxDeletions}`;
}

/** A value for people. */
export function valueText(value: PresentValue): string {
  return presentValueText(value, jsonText);
}

function jsonText(value: unknown): string {
  const text = JSON.stringify(value) ?? 'null';
  return text.length > maxLength ? `${text.slice(0, maxLength)}\u2026` : text;
}
