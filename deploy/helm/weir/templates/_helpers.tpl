{{- define "weir.name" -}}
{{- if contains .Chart.Name .Release.Name -}}
{{- .Release.Name | trunc 50 | trimSuffix "-" -}}
{{- else -}}
{{- printf "%s-%s" .Release.Name .Chart.Name | trunc 50 | trimSuffix "-" -}}
{{- end -}}
{{- end -}}

{{- define "weir.labels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{ include "weir.selector" . }}
{{- end -}}

{{/* What all pods have; "component" tells nodes from parsers. */}}
{{- define "weir.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "weir.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}
{{ .repository }}@{{ .digest }}
{{- else -}}
{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}
{{- end -}}
{{- end -}}
{{- end -}}

{{- define "weir.account" -}}
{{- if .Values.serviceAccount.create -}}
{{ .Values.serviceAccount.name | default (include "weir.name" .) }}
{{- else -}}
{{ .Values.serviceAccount.name | default "default" }}
{{- end -}}
{{- end -}}

{{/* Setting → key of the Secret. */}}
{{- define "weir.secrets" -}}
{{- with .Values.secrets.keys -}}
WEIR_CATALOG_URL: {{ .catalog }}
WEIR_ARTIFACTS_URL: {{ .artifacts }}
WEIR_CLICKHOUSE_URL: {{ .clickhouse }}
{{- with .redis }}
WEIR_REDIS_URL: {{ . }}
{{- end }}
WEIR_SECRET_KEY: {{ .secretKey }}
{{- end -}}
{{- end -}}

{{- define "weir.environment" -}}
{{- range $name, $key := include "weir.secrets" . | fromYaml }}
- name: {{ $name }}_FILE
  value: /run/secrets/weir/{{ $key }}
{{- end }}
- name: WEIR_BASE_URL
  value: {{ .Values.baseUrl | quote }}
- name: WEIR_APP_URL
  value: {{ .Values.appUrl | quote }}
- name: WEIR_TRUSTED_PROXIES
  value: {{ join "," .Values.trustedProxies | quote }}
{{- with .Values.docsOrigins }}
- name: WEIR_DOCS_ORIGIN
  value: {{ join "," . | quote }}
{{- end }}
- name: WEIR_RATE_PER_MINUTE
  value: {{ .Values.rates.perMinute | quote }}
- name: WEIR_RATE_BURST
  value: {{ .Values.rates.burst | quote }}
- name: WEIR_LOG_LEVEL
  value: {{ .Values.logLevel | quote }}
{{- range $name, $value := .Values.tracing }}
- name: {{ $name }}
  value: {{ $value | quote }}
{{- end }}
{{- end -}}

{{/* The pods of one Deployment. Takes root, component, roles, processes, resources. */}}
{{- define "weir.pod" -}}
{{- $values := .root.Values -}}
{{- $needed := add (int $values.shutdown.preStopSeconds) 30 -}}
{{- if le (int $values.shutdown.graceSeconds) (int $needed) -}}
{{- fail (printf "shutdown.graceSeconds must be more than %d, which a stop may take" $needed) -}}
{{- end -}}
metadata:
  annotations:
    kubectl.kubernetes.io/default-container: weir
    {{- with $values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
  labels:
    {{- include "weir.labels" .root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
    {{- with $values.podLabels }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  serviceAccountName: {{ include "weir.account" .root }}
  # It asks nothing of the cluster.
  automountServiceAccountToken: false
  # Links are variables like WEIR_PORT where a Service is called weir, and weir refuses to start with
  # settings that it does not know.
  enableServiceLinks: false
  terminationGracePeriodSeconds: {{ $values.shutdown.graceSeconds }}
  {{- with $values.priorityClassName }}
  priorityClassName: {{ . }}
  {{- end }}
  {{- with $values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 10001
    runAsGroup: 10001
    fsGroup: 10001
    fsGroupChangePolicy: OnRootMismatch
    seccompProfile: { type: RuntimeDefault }
  containers:
    - name: weir
      image: {{ include "weir.image" .root }}
      imagePullPolicy: {{ $values.image.pullPolicy }}
      args:
        - serve
        - --roles
        - {{ .roles }}
        - --processes
        - {{ .processes | quote }}
      env:
        {{- include "weir.environment" .root | trim | nindent 8 }}
      ports:
        {{- if ne .component "parse" }}
        - { name: api, containerPort: 8080 }
        - { name: app, containerPort: 8081 }
        {{- end }}
        - { name: ops, containerPort: 8082 }
      # With one process it answers once all stores were there: it waits for them, five minutes here.
      startupProbe:
        httpGet: { path: /livez, port: ops }
        periodSeconds: 2
        timeoutSeconds: 5
        failureThreshold: 150
      livenessProbe:
        httpGet: { path: /livez, port: ops }
        periodSeconds: 10
        timeoutSeconds: 5
        failureThreshold: 6
      # Not ready once a store that every request needs is away for half a minute: then no pod is, and
      # callers get the ingress's 503. Until then weir itself answers what it can.
      readinessProbe:
        httpGet: { path: /readyz, port: ops }
        periodSeconds: 5
        timeoutSeconds: 5
        failureThreshold: 6
      lifecycle:
        preStop:
          exec: { command: [sleep, {{ $values.shutdown.preStopSeconds | quote }}] }
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      resources:
        {{- toYaml .resources | nindent 8 }}
      volumeMounts:
        - { name: secrets, mountPath: /run/secrets/weir, readOnly: true }
        - { name: data, mountPath: /data }
        - { name: tmp, mountPath: /tmp }
  volumes:
    - name: secrets
      secret:
        secretName: {{ $values.secrets.existingSecret }}
        defaultMode: 0440
        items:
          {{- range $key := include "weir.secrets" .root | fromYaml | values | sortAlpha }}
          - { key: {{ $key }}, path: {{ $key }} }
          {{- end }}
    # All that is to be kept is in the stores.
    - { name: data, emptyDir: { sizeLimit: 1Gi } }
    - { name: tmp, emptyDir: { sizeLimit: 1Gi } }
  # On different machines, and zones, where there are some.
  topologySpreadConstraints:
    {{- range $key := list "kubernetes.io/hostname" "topology.kubernetes.io/zone" }}
    - maxSkew: 1
      topologyKey: {{ $key }}
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "weir.selector" $.root | nindent 10 }}
          app.kubernetes.io/component: {{ $.component }}
    {{- end }}
  {{- with $values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $values.affinity }}
  affinity:
    {{- toYaml . | nindent 4 }}
  {{- end }}
{{- end -}}
