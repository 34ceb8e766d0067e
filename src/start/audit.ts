import type { Command } from 'commander';
import type { Audit } from '../catalog/audit-contract.ts';

/**
 * Does `work` as a use of the command line that stands in the audit log (DECISIONS 10). The entry
 * is durable before the work begins, so that nothing is done or shown without one. Work that fails
 * gets a second entry with `failed` and the error's code; work that was killed has only the first.
 *
 * @param codeOf the code to note of an error
 */
export async function audited<T>(
  audit: Pick<Audit, 'note'>,
  command: Command,
  codeOf: (error: unknown) => string,
  work: () => Promise<T>,
): Promise<T> {
  const use = { actor: 'command line', action: actionOf(command) };
  const about = aboutOf(command);
  await audit.note({ ...use, at: Date.now(), about });
  try {
    return await work();
  } catch (error) {
    const failed = { ...about, failed: codeOf(error) };
    await audit.note({ ...use, at: Date.now(), about: failed }).catch((cause) => {
      const why = error instanceof Error ? error.message : String(error);
      throw new Error(`${why} (the audit log could not note it: ${cause.message})`, { cause });
    });
    throw error;
  }
}

/** The words of a command after `weir`: `key revoke`. */
function actionOf(command: Command): string {
  const { parent } = command;
  return parent?.parent ? `${actionOf(parent)} ${command.name()}` : command.name();
}

/** Arguments and options by their names; how the answer is printed does not belong to it. */
function aboutOf(command: Command): Record<string, unknown> {
  const given = [
    ...command.registeredArguments.map((one, i) => [one.name(), command.processedArgs[i]] as const),
    ...command.options.map((one) => {
      const value: unknown = command.getOptionValue(one.attributeName());
      return [one.name().replaceAll('-', '_'), value] as const;
    }),
  ];
  const kept = given.filter(([name, value]) => value !== undefined && name !== 'json');
  return Object.fromEntries(kept.map(([name, value]) => [name, plain(value)]));
}

const secrets = /\b(wk_(?:live|test|demo)_|whsec_)[\w-]+/g;

/** No option takes a key or a secret; one that was typed in the wrong place is cut short. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  return typeof value === 'string' ? withoutSecrets(value) : value;
}

export function withoutSecrets(text: string): string {
  return text.replaceAll(secrets, '$1…');
}
