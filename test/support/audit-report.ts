/** What `npm audit --json` said. */
export type AuditVerdict =
  | { readonly kind: 'clean' }
  /** Packages with an advisory of this severity or a higher one. */
  | { readonly kind: 'vulnerable'; readonly packages: readonly string[] }
  /** The registry was not asked, or does not answer such questions. */
  | { readonly kind: 'unknown'; readonly reason: string };

interface Report {
  readonly auditReportVersion?: number;
  readonly vulnerabilities?: Readonly<Record<string, { readonly severity: string }>>;
  readonly message?: string;
}

const serious = ['high', 'critical'];

/** @param text the command's output; whatever is no report leaves the question open */
export function judgeAudit(text: string): AuditVerdict {
  const report = parsed(text);
  if (report?.auditReportVersion === undefined || report.vulnerabilities === undefined) {
    return { kind: 'unknown', reason: report?.message ?? 'npm audit gave no report' };
  }
  const packages = Object.entries(report.vulnerabilities)
    .filter(([, { severity }]) => serious.includes(severity))
    .map(([name, { severity }]) => `${name} (${severity})`);
  return packages.length === 0 ? { kind: 'clean' } : { kind: 'vulnerable', packages };
}

function parsed(text: string): Report | null {
  try {
    return JSON.parse(text) as Report;
  } catch {
    return null;
  }
}
