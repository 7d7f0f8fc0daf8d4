{{- define "shutterfleet.evaluationVolumes" -}}
images:
  mountPath: /images
  persistentVolumeClaim: { claimName: {{ include "shutterfleet.fullname" . }}-images }
{{- if .Values.plans }}
plans:
  mountPath: /etc/shutterfleet-plans
  configMap: { name: {{ include "shutterfleet.fullname" . }}-plans }
{{- end }}
{{- end }}

{{- /* The image volume is ReadWriteOnce: pods that mount it must share a node. The first pod may run on any node. */}}
{{- define "shutterfleet.onNodeOfImageVolume" -}}
podAffinity:
  requiredDuringSchedulingIgnoredDuringExecution:
    - topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          app.kubernetes.io/instance: {{ .Release.Name | quote }}
          shutterfleet.dev/images: "true"
{{- end }}

{{- /* A StatefulSet with a single replica: dict of root, component, image, user, args, env, port, key, data, scratch, probe, liveness */}}
{{- define "shutterfleet.server" -}}
{{- $root := .root -}}
{{- $name := printf "%s-%s" (include "shutterfleet.fullname" $root) .component -}}
apiVersion: apps/v1
kind: StatefulSet
metadata:
  {{- include "shutterfleet.metadata" (list $root .component $name) | nindent 2 }}
spec:
  replicas: 1
  serviceName: {{ $name }}
  # Delete evaluation data with the release.
  persistentVolumeClaimRetentionPolicy: { whenDeleted: Delete, whenScaled: Retain }
  selector:
    matchLabels:
      {{- include "shutterfleet.selector" (list $root .component) | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "shutterfleet.selector" (list $root .component) | nindent 8 }}
    spec:
      serviceAccountName: {{ include "shutterfleet.fullname" $root | quote }}
      automountServiceAccountToken: false
      enableServiceLinks: false
      {{- include "shutterfleet.pullSecrets" $root | nindent 6 }}
      securityContext:
        runAsNonRoot: true
        runAsUser: {{ .user }}
        runAsGroup: {{ .user }}
        fsGroup: {{ .user }}
        seccompProfile: { type: RuntimeDefault }
      containers:
        - name: {{ .component }}
          image: {{ .image | quote }}
          imagePullPolicy: {{ $root.Values.image.pullPolicy }}
          args: {{ toJson .args }}
          {{- with .env }}
          env:
            {{- include "shutterfleet.env" . | nindent 12 }}
          {{- end }}
          ports: [{ name: server, containerPort: {{ .port }} }]
          startupProbe:
            {{- toYaml .probe | nindent 12 }}
            periodSeconds: 2
            timeoutSeconds: 3
            failureThreshold: 300
          livenessProbe:
            {{- toYaml .liveness | nindent 12 }}
            periodSeconds: 5
            timeoutSeconds: 5
            failureThreshold: 4
          readinessProbe:
            {{- toYaml .probe | nindent 12 }}
            periodSeconds: 2
            timeoutSeconds: 3
          resources:
            {{- toYaml $root.Values.evaluation.resources | nindent 12 }}
          {{- include "shutterfleet.containerSecurity" $root | nindent 10 }}
          volumeMounts:
            - { name: data, mountPath: {{ .data }} }
            - { name: secrets, mountPath: /run/secrets/shutterfleet, readOnly: true }
            {{- range .scratch }}
            - { name: scratch, mountPath: {{ . }}, subPath: {{ base . }} }
            {{- end }}
      volumes:
        - { name: scratch, emptyDir: { sizeLimit: 64Mi } }
        - name: secrets
          secret:
            secretName: {{ include "shutterfleet.keysSecret" $root | quote }}
            defaultMode: 0440
            items: [{ key: {{ .key }}, path: {{ .key }} }]
  volumeClaimTemplates:
    - metadata: { name: data }
      spec:
        accessModes: [ReadWriteOnce]
        {{- with $root.Values.evaluation.storageClassName }}
        storageClassName: {{ . | quote }}
        {{- end }}
        resources: { requests: { storage: {{ $root.Values.evaluation.size | quote }} } }
---
apiVersion: v1
kind: Service
metadata:
  {{- include "shutterfleet.metadata" (list $root .component $name) | nindent 2 }}
spec:
  {{- include "shutterfleet.serviceSpec" (list $root .component dict) | nindent 2 }}
  ports:
    - { name: server, port: {{ .port }}, targetPort: server }
{{- end }}
