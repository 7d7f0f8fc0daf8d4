/**
 * Words by which overlays that ask visitors for something are recognised, as parts of regular expressions without case: what the
 * text speaks of, and labels of buttons that do or postpone it. In English, German, French, Spanish, Italian, Portuguese and
 * Dutch. No subject ends at a word's end (\b), since the texts of neighbouring elements are joined.
 */
export const popupWords: Readonly<
  Record<'newsletter' | 'app' | 'notifications' | 'wall' | 'age', { subject: string; labels: string }>
> = {
  newsletter: {
    subject:
      'newsletter|mailing list|join (?:our|the) (?:list|community|club)|subscribe (?:to|for|and)|sign up (?:for|to get|and)|(?:get|take|save|enjoy|unlock) (?:an? )?(?:extra )?\\d+ ?% |\\d+ ?% (?:off|rabatt|sconto|de descuento|de desconto|korting)|(?:stay|keep) (?:in the loop|updated|in touch|informed)|never miss|infolettre|abonnez-vous|inscrivez-vous|suscríbete|boletín|iscriviti|assine|inscreva-se|schrijf je in|nieuwsbrief|auf dem laufenden|rundbrief',
    labels:
      "subscribe|sign (?:me )?up|join|get (?:my|the|\\d)|claim|unlock|send me|no,? thanks|anmelden|abonnieren|eintragen|jetzt sichern|nein,? danke|s[’']abonner|je m[’'](?:abonne|inscris)|non,? merci|suscrib|no,? gracias|iscriv|no,? grazie|assinar|inscrev|não,? obrigad|aanmelden|inschrijven|nee,? bedankt",
  },
  app: {
    subject:
      "(?:open|view|continue|read|watch|shop|better|faster|easier|available) (?:it |this )?(?:in|with|on) (?:the|our) app(?!lication|endix|roach|arat)|(?:get|download|install|try|use) (?:the|our) (?:free )?(?:mobile )?app(?!lication|endix|roach|arat)|add to home screen|in der app|app (?:öffnen|herunterladen|installieren|laden)|dans l[’']app|télécharge[rz] (?:notre|l[’'])|en la app|descarga (?:la|nuestra) app|nell[’']app|scarica l[’']app|no app(?!lication|endix|roach|arat)|baixe o app|in de app|download de app",
    labels:
      'open|get|install|download|use (?:the )?app|continue|not now|later|öffnen|installieren|laden|nicht jetzt|ouvrir|installer|télécharger|plus tard|abrir|instalar|descargar|ahora no|apri|installa|scarica|non ora|baixar|agora não|openen|niet nu',
  },
  notifications: {
    subject:
      '(?:push|browser|desktop|breaking news)?[- ]?notifications|(?:web ?)?push|benachrichtigung|mitteilungen|notificaciones|notifiche|notificações|meldingen',
    labels:
      "allow|enable|turn on|subscribe|yes|not now|later|no,? thanks|block|don[’']t allow|erlauben|zulassen|aktivieren|später|nicht jetzt|autoriser|activer|plus tard|non,? merci|permitir|activar|ahora no|consenti|attiva|non ora|ativar|agora não|toestaan|niet nu",
  },
  wall: {
    subject:
      '(?:log|sign) ?in (?:to|or|and) (?:continue|see|view|read|keep|unlock|register|sign)|(?:create|make) (?:a|an|your) (?:free )?account|(?:register|subscribe|join) (?:now )?(?:to|and) (?:continue|read|keep|see|unlock)|already (?:a|have) (?:an? )?(?:subscriber|member|account)|(?:reached|used|read) (?:your|all|the) (?:\\w+ ){0,3}(?:limit|articles)|(?:subscriber|member)s?[- ](?:only|exclusive)|to (?:continue|keep) reading|anmelden,? um|registrieren,? um|weiterlesen|bereits (?:abonnent|registriert|mitglied)|jetzt abonnieren|connectez-vous pour|déjà abonné|pour continuer|réservé aux abonnés|inicia sesión para|regístrate para|ya eres|accedi per|registrati per|già abbonato|entre para|faça login|já é assinante|log in om|word lid|al abonnee',
    labels:
      "(?:log|sign) ?(?:in|up)|register|subscribe|create|join|continue (?:with|reading)|anmelden|einloggen|registrieren|abonnieren|weiter mit|connexion|se connecter|s[’']inscrire|s[’']abonner|iniciar sesión|registr|suscrib|accedi|iscriviti|abbonati|entrar|assinar|inloggen|aanmelden|abonneer",
  },
  age: {
    subject:
      "(?:are|must be|you(?:'|’)re) (?:you )?(?:at least |over )?(?:18|19|20|21)|(?:18|21) (?:years|or older|and over|\\+)|of legal (?:drinking |smoking )?age|(?:verify|confirm) (?:that )?(?:your age|you are (?:over|at least|of))|age (?:verification|check|gate)|(?:über|mindestens) (?:16|18)|(?:16|18) jahre|volljährig|alter(?:sprüfung| bestätigen)|plus de 18 ans|18 ans|majeur|mayor de (?:edad|18)|18 años|maggiorenne|18 anni|maior de (?:idade|18)|18 anos|18 jaar|leeftijd",
    labels:
      "yes|enter|i am|i(?:'|’)m|over (?:18|21)|(?:18|21)\\+|confirm|ja|eintreten|bestätigen|oui|entrer|j(?:'|’)ai|sí|entrar|soy mayor|sì|entra|sim|sou maior|ik ben",
  },
}
