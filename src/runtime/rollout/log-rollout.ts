import type { Logger } from '../../telemetry/roles.ts';
import type { RolloutView } from '../definition-view.ts';
import type { RolloutNews } from './rollout.ts';

const texts: Readonly<Record<RolloutNews, string>> = {
  begun: 'Roll-out begun',
  held: 'Roll-out held, its deletions are to be approved',
  approved: 'Deletions of the roll-out approved',
  stopped: 'Roll-out stopped, too many resources fail with it',
  resumed: 'Roll-out goes on',
  ended: 'Roll-out ended',
};

/** Tells the log how a roll-out has gone on. */
export function logRollout(logger: Logger, news: RolloutNews, view: RolloutView): void {
  const { from, to, reached, total, deletions, message } = view;
  const about = { from, to, reached, total, ...(deletions > 0 && { deletions }) };
  const isTrouble = news === 'stopped' || news === 'held';
  if (isTrouble) logger.warn({ ...about, reason: message }, texts[news]);
  else logger.info(about, texts[news]);
}
