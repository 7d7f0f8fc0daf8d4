/**
 * Words by which a consent banner is recognised, as parts of regular expressions without case, by language: what is consented to;
 * labels of buttons that consent, refuse or choose; words around weaker labels, such as "OK", that show what they are about.
 */
const byLanguage: Readonly<
  Record<string, { readonly subject: string; readonly verbs: string; readonly context: string }>
> = {
  en: {
    subject: 'cookies?|gdpr|tracking technologies|personal data',
    verbs:
      'accept|agree(?!ment)|allow|consent|enable all|reject|decline|deny|refuse|disagree|opt out|(?:only )?(?:necessary|essential|required)(?: only| cookies)|(?:cookie|privacy) (?:settings|preferences|options)|manage (?:cookies|preferences|consent)',
    context: 'website|our site|this site|privacy|policy|experience|analytics|traffic|advertis|third[- ]part|consent',
  },
  de: {
    subject: 'cookies?|einwilligung|personenbezogene daten|dsgvo',
    verbs:
      'akzeptier|zustimm|stimme zu|einverstanden|annehmen|erlauben|zulassen|ablehn|nur (?:notwendige|erforderliche|essenzielle|technisch)|einwillig|cookie-einstellungen|auswahl (?:speichern|bestätigen)',
    context: 'webs(?:e|i)ite|datenschutz|nutzererlebnis|analyse|werbung|zugriffe|dienste',
  },
  fr: {
    subject: 'cookies?|témoins de connexion|traceurs|données personnelles|rgpd|consentement',
    verbs: "accept|autoriser|j[’']accepte|refuser|continuer sans|paramétrer|gérer (?:les|mes) |tout rejeter|consentir",
    context: 'site|confidentialité|vie privée|expérience|audience|publicité|politique',
  },
  es: {
    subject: 'cookies?|galletas de navegación|datos personales|rgpd|consentimiento',
    verbs: 'acept|permitir|rechaz|denegar|configurar|de acuerdo|consentir|solo (?:necesarias|esenciales)',
    context: 'sitio|web|privacidad|experiencia|publicidad|política|navegación',
  },
  it: {
    subject: 'cookies?|dati personali|consenso|gdpr',
    verbs:
      'accett|acconsent|consenti|rifiut|nega|personalizza|solo (?:necessari|essenziali|tecnici)|gestisci (?:le )?preferenze',
    context: 'sito|privacy|esperienza|pubblicità|informativa|navigazione',
  },
  pt: {
    subject: 'cookies?|dados pessoais|lgpd|consentimento',
    verbs: 'aceit|concordo|permitir|rejeit|recusar|apenas (?:necessários|essenciais)|gerir|configurar',
    context: 'site|sítio|privacidade|experiência|publicidade|política|navegação',
  },
  nl: {
    subject: 'cookies?|persoonsgegevens|avg|toestemming',
    verbs: 'accepte|akkoord|toestaan|weiger|afwijzen|alleen (?:noodzakelijke|functionele)|voorkeuren|instemmen',
    context: 'website|privacy|ervaring|advertenties|beleid|surf',
  },
  sv: {
    subject: 'cookies?|kakor|personuppgifter|samtycke',
    verbs: 'acceptera|godkänn|tillåt|neka|avvisa|avböj|endast nödvändiga|samtyck|inställningar för',
    context: 'webbplats|sida|integritet|upplevelse|annonser|policy',
  },
  da: {
    subject: 'cookies?|personoplysninger|samtykke',
    verbs: 'accept|tillad|godkend|afvis|kun nødvendige|afslå|samtyk',
    context: 'hjemmeside|websted|websider|privatliv|oplevelse|annoncer|politik',
  },
  no: {
    subject: 'cookies?|informasjonskapsler|personopplysninger|samtykke',
    verbs: 'godta|aksepter|tillat|avvis|avslå|bare nødvendige|kun nødvendige|samtykk',
    context: 'nettsted|nettside|personvern|opplevelse|annonser',
  },
  fi: {
    subject: 'evästee|evästei|eväste|henkilötieto',
    verbs: 'hyväks|salli|hylkää|kiellä|vain välttämättömät|suostu',
    context: 'sivusto|verkkosivu|yksityisyys|tietosuoja|kokemus|mainon',
  },
  pl: {
    subject: 'ciasteczk|plik(?:i|ów|ach|ami) cookies?|cookies?|danych osobowych|rodo',
    verbs: 'akceptuj|zaakceptuj|zgadzam|zgoda|zezw[oó]l|odrzu[cć]|odmawiam|odm[oó]w|tylko niezbędne|dostosuj',
    context: 'stron|serwis|prywatności|doświadcze|reklam|polityk',
  },
  cs: {
    subject: 'cookies?|osobních údajů',
    verbs: 'přijm|souhlas|povolit|odmít|pouze nezbytné|nastavení cookies|přijmout',
    context: 'web|stránk|soukromí|reklam|zásad',
  },
  sk: {
    subject: 'cookies?|osobných údajov',
    verbs: 'prija|súhlas|povoliť|odmiet|iba nevyhnutné|nastavenia cookies',
    context: 'web|stránk|súkromi|reklam|zásad',
  },
  hu: {
    subject: 'süti|sütik|cookie',
    verbs: 'elfogad|engedélyez|elutasít|hozzájárul|csak a szükséges|beleegyez',
    context: 'weboldal|honlap|adatvéd|élmény|hirdetés|webhely',
  },
  ro: {
    subject: 'cookie|fișiere cookie|date(?:lor)? personale',
    verbs: 'accept|sunt de acord|permite|refuz|resping|doar (?:cele )?necesare',
    context: 'site|confidențialitate|experien|publicitate|politic',
  },
  bg: {
    subject: 'бисквитк',
    verbs: 'прием|приеми|съглас|разреш|отказ|отхвър|само необходими',
    context: 'сайт|поверителност|уебсайт',
  },
  el: {
    subject: 'cookies?',
    verbs: 'αποδοχή|αποδέχομαι|συμφων|απόρριψη|μόνο τα απαραίτητα|ρυθμίσεις cookies',
    context: 'ιστ[οό]|απορρ[ηή]του|εμπειρία',
  },
  hr: {
    subject: 'kolačić|kolačiće|cookies?',
    verbs: 'prihvat|prihvać|slažem|dopusti|odbij|samo nužn',
    context: 'stranic|privatnost|iskustvo',
  },
  sl: { subject: 'piškotk', verbs: 'sprejm|strinjam|dovoli|zavrn|samo nujn', context: 'stran|zasebnost|izkušnj' },
  et: { subject: 'küpsis', verbs: 'nõustu|luba|keeldu|ainult vajalik', context: 'veebileh|privaatsus|kogemus' },
  lv: {
    subject: 'sīkdat',
    verbs: 'piekrīt|apstiprin|pieņem|noraid|tikai nepieciešam',
    context: 'vietn|privātum|pieredz',
  },
  lt: { subject: 'slapuk', verbs: 'sutink|priim|leisti|atmest|tik būtin', context: 'svetain|privatum|patirt' },
  tr: {
    subject: 'çerez|kişisel veri|kvkk',
    verbs: 'kabul|onayl|izin ver|reddet|yalnızca gerekli|sadece gerekli',
    context: 'site|gizlilik|deneyim|politika',
  },
  ru: {
    subject: 'cookies?|куки|персональных данных',
    verbs: 'прин(?:ять|имаю)|соглас|разреш|отклон|отказ|только необходимые',
    context: 'сайт|конфиденциальност|политик|реклам',
  },
  uk: {
    subject: 'cookies?|кукі|файли cookie|персональних даних',
    verbs: 'прийня|приймаю|погодж|згод|дозвол|відхил|лише необхідні',
    context: 'сайт|конфіденційн|політик|реклам',
  },
  ja: {
    subject: 'クッキー|cookie',
    verbs: '同意|許可|承認|受け入れ|拒否|必要なもののみ',
    context: 'サイト|プライバシー|体験|広告',
  },
  zh: {
    subject: 'cookie',
    verbs: '同意|接受|允许|允許|拒绝|拒絕|仅必要|僅必要',
    context: '网站|網站|隐私|隱私|体验|體驗',
  },
  ko: { subject: '쿠키|cookie', verbs: '동의|허용|수락|거부|필수만', context: '웹사이트|사이트|개인정보|환경' },
  ar: { subject: 'ملفات تعريف الارتباط|الكوكيز', verbs: 'قبول|أوافق|موافق|السماح|رفض', context: 'الموقع|الخصوصية|تجرب' },
  he: { subject: 'עוגיות|קובצי cookie|קוקיז', verbs: 'אישור|מסכים|אני מאשר|קבל|דחה|דחייה', context: 'אתר|פרטיות|חוו' },
  vi: {
    subject: 'cookie',
    verbs: 'chấp nhận|đồng ý|cho phép|từ chối',
    context: 'trang web|quyền riêng tư|trải nghiệm',
  },
  id: { subject: 'cookie|kuki', verbs: 'terima|setuju|izinkan|tolak', context: 'situs|privasi|pengalaman' },
  th: { subject: 'คุกกี้', verbs: 'ยอมรับ|ตกลง|อนุญาต|ปฏิเสธ', context: 'เว็บไซต์|ความเป็นส่วนตัว|ประสบการณ์' },
}

/** Labels, in lower case, that consent only beside words about the page: by themselves they may close anything. */
const weakLabels =
  "ok|okay|oké|got it|understood|i understand|continue|yes|close|dismiss|fine|thanks|settings|preferences|customise|customize|alles klar|verstanden|ok, verstanden|einstellungen|d'accord|compris|j'ai compris|personnaliser|entendido|vale|ho capito|chiudi|entendi|fechar|begrepen|sluiten|instellingen|jag förstår|forstået|lukk|jeg forstår|selvä|rozumiem|rozumím|értem|rendben|am înțeles|разбрах|κατάλαβα|εντάξει|razumijem|razumem|sain aru|sapratu|supratau|anladım|tamam|понятно|хорошо|зрозуміло|добре|わかりました|閉じる|知道了|我知道了|关闭|확인|닫기|حسنا|فهمت|הבנתי|סגור|tôi hiểu|đã hiểu|mengerti|oke|เข้าใจแล้ว|×|✕|✖|x".split(
    '|',
  )

/** Languages that put words together without spaces, or particles before them. */
const unspaced = new Set(['ar', 'he', 'ja', 'ko', 'th', 'zh'])

const all = (part: 'subject' | 'verbs' | 'context'): string => {
  const select = (isUnspaced: boolean) =>
    Object.entries(byLanguage).flatMap(([language, words]) =>
      unspaced.has(language) === isUnspaced ? words[part] : [],
    )
  return `(?<!\\p{L})(?:${select(false).join('|')})|${select(true).join('|')}`
}

/**
 * Sources of regular expressions without case, with Unicode, for a banner's text, its labels, and words around weak labels; and
 * the weak labels.
 */
export const consentWords = {
  subject: all('subject'),
  verbs: all('verbs'),
  weakLabels,
  context: all('context'),
} as const
