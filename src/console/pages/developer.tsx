import { AccessKeys } from '../parts/access-keys.tsx';
import { Commands } from '../parts/commands.tsx';
import { SigningSecrets } from '../parts/signing-secrets.tsx';
import type { SourceTabProps } from '../source-of-page.ts';

/** What who connects a system needs: keys, the webhook's address and secrets, commands. */
export default function Developer({ source }: SourceTabProps) {
  return (
    <>
      {source.delivery === 'webhook' && <SigningSecrets source={source} />}
      <AccessKeys source={source} />
      <Commands source={source} />
    </>
  );
}
