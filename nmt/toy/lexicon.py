"""The lexicon of the demonstration's language: tables of English and French words, which `inflection` inflects.

Tables are strings of `english/french` entries; irregular forms follow a colon, and `_` is a space inside a word. The
order of a table has no meaning: `words` draws the ranks of Zipf's law with a fixed seed.
"""

# Kind of noun -> gender -> entries. Kinds: p person, o organisation, t thing, a abstract, e event, l place,
# and in instructions d device, s substance or part. An abstract noun has no English article and no plural.
NOUNS = {
    "p": {
        "m": """minister/ministre president/président man:men/homme child:children/enfant
        journalist/journaliste citizen/citoyen worker/ouvrier farmer/agriculteur doctor/médecin lawyer/avocat
        judge/juge soldier/soldat student/étudiant teacher/professeur writer/écrivain voter/électeur
        expert/expert official/fonctionnaire policeman:policemen/policier prisoner/prisonnier banker/banquier
        economist/économiste scientist/scientifique researcher/chercheur engineer/ingénieur driver/conducteur
        king/roi prince/prince father/père brother/frère son/fils uncle/oncle neighbour/voisin friend/ami
        player/joueur coach/entraîneur singer/chanteur general/général ambassador/ambassadeur
        adviser/conseiller mayor/maire governor/gouverneur deputy/député leader/dirigeant candidate/candidat
        opponent/adversaire ally/allié partner/partenaire witness/témoin suspect/suspect thief:thieves/voleur
        customer/client tourist/touriste painter/peintre hero/héros author/auteur director/directeur
        actor/acteur senator/sénateur inspector/inspecteur investor/investisseur employer/employeur
        producer/producteur manager/gestionnaire observer/observateur boy/garçon fisherman:fishermen/pêcheur
        pensioner/retraité refugee/réfugié spokesman:spokesmen/porte-parole:porte-parole
        shareholder/actionnaire buyer/acheteur""",
        "f": """woman:women/femme mother/mère sister/sœur daughter/fille queen/reine princess/princesse
        actress/actrice nurse/infirmière waitress/serveuse aunt/tante star/vedette victim/victime
        wife:wives/épouse widow/veuve grandmother/grand-mère niece/nièce person:people/personne
        dancer/danseuse heiress/héritière""",
    },
    "o": {
        "m": """government/gouvernement parliament/parlement party/parti ministry/ministère committee/comité
        council/conseil group/groupe union/syndicat country/pays state/état senate/sénat orchestra/orchestre
        newspaper/journal hospital/hôpital museum/musée club/club network/réseau movement/mouvement
        regime/régime tribunal/tribunal institute/institut consortium/consortium laboratory/laboratoire
        supplier/fournisseur manufacturer/fabricant publisher/éditeur trade_union/syndicat_ouvrier""",
        "f": """company/entreprise commission/commission army/armée militia/milice association/association
        organisation/organisation university/université school/école team/équipe agency/agence
        opposition/opposition delegation/délégation assembly/assemblée church/église authority/autorité
        institution/institution foundation/fondation federation/fédération family/famille firm/société
        coalition/coalition community/communauté alliance/alliance administration/administration
        airline/compagnie_aérienne industry/industrie""",
    },
    "t": {
        "m": """report/rapport book/livre film/film agreement/accord project/projet programme/programme
        plan/plan treaty/traité document/document contract/contrat budget/budget car/véhicule train/train
        plane/avion ship/navire boat/bateau weapon/armement bridge/pont tunnel/tunnel building/bâtiment
        computer/ordinateur telephone/téléphone painting/tableau statement/communiqué article/article
        text/texte speech/discours vote/vote product/produit tax/impôt salary/salaire loan/prêt market/marché
        price/prix cost/coût profit/bénéfice deficit/déficit sector/secteur system/système model/modèle
        problem/problème success/succès result/résultat attempt/essai effort/effort job/emploi right/droit
        duty/devoir principle/principe method/procédé tool/outil service/service satellite/satellite
        medicine/médicament virus/virus fund/fonds visa/visa passport/passeport camp/camp wall/mur
        garden/jardin tree/arbre mandate/mandat criterion:criteria/critère cheque/chèque gift/cadeau
        message/message album/album monument/monument goal/but sign/signe choice/choix risk/risque
        advantage/avantage obstacle/obstacle scenario:scenarios/scénario compromise/compromis""",
        "f": """law/loi reform/réforme letter/lettre house/maison proposal/proposition decision/décision
        question/question answer/réponse measure/mesure resolution/résolution road/route machine/machine
        picture/image map/carte window/fenêtre door/porte key/clé table/table condition/condition
        solution/solution list/liste idea/idée strategy/stratégie campaign/campagne investigation/enquête
        debt/dette currency/monnaie crisis:crises/crise story/histoire song/chanson dress/robe box/boîte
        bomb/bombe bicycle/bicyclette photograph/photographie request/demande complaint/plainte
        invoice/facture policy/politique threat/menace promise/promesse reward/récompense mistake/faute
        task/tâche offer/offre page/page version/version website/page_web:pages_web
        recommendation/recommandation obligation/obligation sanction/sanction petition/pétition
        declaration/déclaration publication/publication invention/invention constitution/constitution
        initiative/initiative directive/directive alternative/alternative difference/différence
        reference/référence contribution/contribution licence/licence medal/médaille innovation/innovation
        tradition/tradition""",
    },
    "a": {
        "m": """terrorism/terrorisme tourism/tourisme capitalism/capitalisme socialism/socialisme
        racism/racisme trade/commerce unemployment/chômage progress/progrès respect/respect courage/courage
        silence/silence work/travail sport/sport oil/pétrole gas/gaz gold/or development/développement
        employment/emploi transport/transport happiness/bonheur nationalism/nationalisme
        liberalism/libéralisme dialogue/dialogue pluralism/pluralisme federalism/fédéralisme""",
        "f": """education/éducation democracy/démocratie freedom/liberté peace/paix security/sécurité
        justice/justice health/santé energy/énergie growth/croissance inflation/inflation poverty/pauvreté
        corruption/corruption immigration/immigration globalisation/mondialisation science/science
        culture/culture music/musique history/histoire philosophy/philosophie economics/économie
        agriculture/agriculture violence/violence hunger/faim war/guerre hope/espérance youth/jeunesse
        truth/vérité water/eau electricity/électricité information/information pollution/pollution
        competition/concurrence cooperation/coopération equality/égalité stability/stabilité
        solidarity/solidarité transparency/transparence technology/technologie diplomacy/diplomatie
        modernisation/modernisation privatisation/privatisation taxation/fiscalité productivity/productivité
        responsibility/responsabilité diversity/diversité biodiversity/biodiversité nature/nature faith/foi
        patience/patience prudence/prudence tolerance/tolérance independence/indépendance
        sovereignty/souveraineté""",
    },
    "e": {
        "m": """meeting/rassemblement summit/sommet debate/débat festival/festival:festivals match/match
        ballot/scrutin referendum/référendum accident/accident attack/attentat conflict/conflit
        concert/concert tournament/tournoi trip/voyage dinner/dîner marriage/mariage earthquake/séisme
        congress/congrès fire/incendie storm/orage coup/putsch census/recensement interview/entretien""",
        "f": """election/élection conference/conférence session/séance demonstration/manifestation
        visit/visite revolution/révolution negotiation/négociation celebration/célébration ceremony/cérémonie
        final/finale strike/grève explosion/explosion catastrophe/catastrophe operation/opération
        discussion/discussion exhibition/exposition invasion/invasion occupation/occupation
        recession/récession reunion/réunion flood/inondation drought/sécheresse""",
    },
    "l": {
        "m": """village/village port/port airport/aéroport town_centre/centre-ville:centres-villes
        square/quartier park/parc theatre/théâtre restaurant/restaurant hotel/hôtel office/bureau
        desert/désert lake/lac river/fleuve stadium/stade palace/palais castle/château campsite/camping""",
        "f": """city/ville street/rue region/région province/province capital/capitale island/île
        mountain/montagne valley/vallée forest/forêt beach/plage border/frontière zone/zone factory/usine
        prison/prison cathedral/cathédrale library/bibliothèque farm/ferme kitchen/cuisine shop/boutique
        chapel/chapelle""",
    },
    "d": {
        "m": """filter/filtre cover/couvercle button/bouton screen/écran engine/moteur cable/câble
        dishwasher/lave-vaisselle:lave-vaisselle keyboard/clavier refrigerator/réfrigérateur oven/four
        drawer/tiroir heater/radiateur charger/chargeur switch/interrupteur fan/ventilateur socket/connecteur
        lid/clapet sensor/capteur adapter/adaptateur vacuum_cleaner/aspirateur tap/robinet tank/réservoir
        tube/tuyau scanner/scanner mixer/mixeur fuse/fusible clamp/collier pedal/pédalier
        thermostat/thermostat notebook/cahier disc/disque jacket/blouson jersey/maillot coat/manteau
        glove/gant hat/chapeau carpet/tapis sofa/canapé armchair/fauteuil bed/lit cupboard/placard
        mirror/miroir basket/panier umbrella/parapluie wallet/portefeuille""",
        "f": """battery/batterie lamp/lampe pump/pompe screw/vis wheel/roue valve/soupape handle/poignée
        blade/lame camera/caméra plug/prise printer/imprimante cartridge/cartouche tray/plaque hose/durite
        belt/courroie nozzle/buse gasket/rondelle chain/chaîne bulb/ampoule antenna/antenne lens/lentille
        pan/poêle washing_machine/machine_à_laver:machines_à_laver kettle/bouilloire
        toothbrush/brosse_à_dents:brosses_à_dents shelf:shelves/étagère shirt/chemise skirt/jupe
        shoe/chaussure suitcase/valise watch/montre ring/bague chair/chaise blanket/couverture candle/bougie
        jar/jarre bag/trousse boot/botte tie/cravate scarf:scarves/écharpe""",
    },
    "s": {
        "m": """cotton/coton leather/cuir steel/acier wood/bois plastic/plastique glass/verre cardboard/carton
        aluminium/aluminium copper/cuivre velvet/velours silver/argent nylon/nylon rubber/caoutchouc""",
        "f": """wool/laine silk/soie ceramic/céramique straw/paille canvas/toile felt/feutrine""",
    },
}

# Adjectives that follow the French noun; the forms come from the ending unless they are listed after colons (ms:fs:mp).
ADJECTIVES_AFTER = """national/national international/international political/politique economic/économique
social/social public/public:publique private/privé European/européen American/américain French/français
German/allemand Russian/russe Chinese/chinois British/britannique Italian/italien Spanish/espagnol
African/africain military/militaire nuclear/nucléaire popular/populaire financial/financier foreign/étranger
democratic/démocratique local/local regional/régional global/mondial central/central legal/juridique
illegal/illégal federal/fédéral important/important necessary/nécessaire possible/possible difficult/difficile
dangerous/dangereux serious/sérieux famous/célèbre rich/riche independent/indépendant permanent/permanent
recent/récent urgent/urgent current/actuel industrial/industriel cultural/culturel official/officiel
individual/individuel traditional/traditionnel religious/religieux ambitious/ambitieux courageous/courageux
mysterious/mystérieux nervous/nerveux generous/généreux active/actif positive/positif negative/négatif
effective/efficace massive/massif aggressive/agressif administrative/administratif creative/créatif
exclusive/exclusif decisive/décisif complex/complexe modern/moderne conservative/conservateur:conservatrice
liberal/libéral radical/radical moderate/modéré strategic/stratégique historic/historique
scientific/scientifique civic/civique secret/secret:secrète complete/complet:complète
discreet/discret:discrète honest/honnête angry/furieux ready/prêt isolated/isolé divided/divisé united/uni
closed/fermé open/ouvert strong/puissant weak/faible free/libre happy/heureux sick/malade dead/mort
unexpected/inattendu surprising/surprenant worrying/inquiétant ancient/ancien expensive/cher:chère
clean/propre agricultural/agricole environmental/environnemental medical/médical criminal/criminel
constitutional/constitutionnel parliamentary/parlementaire presidential/présidentiel provincial/provincial
rural/rural urban/urbain unacceptable/inacceptable inevitable/inévitable stable/stable fragile/fragile
visible/visible acceptable/acceptable fatal/fatal:fatale:fatals brutal/brutal loyal/loyal royal/royal
neutral/neutre normal/normal original/original tragic/tragique heroic/héroïque energetic/énergique
pragmatic/pragmatique systematic/systématique toxic/toxique"""

# Adjectives that precede the French noun. A form in ms ending in X changes before a vowel (see FORM_BEFORE_VOWEL).
ADJECTIVES_BEFORE = """new/nouveauX:nouvelle:nouveaux old/vieuxX:vieille:vieux big/grand small/petit
young/jeune good/bon:bonne bad/mauvais beautiful/beauX:belle:beaux long/long:longue great/grand pretty/joli
first/premier last/dernier main/principal:principale:principaux former/ancien true/véritable dear/cher:chère
future/futur huge/énorme excellent/excellent vast/vaste brave/brave"""

INSTRUCTION_ADJECTIVES = """red/rouge blue/bleu green/vert white/blanc:blanche black/noir yellow/jaune grey/gris
soft/doux:douce hard/dur heavy/lourd light/léger:légère waterproof/imperméable adjustable/réglable
removable/amovible portable/portable electric/électrique automatic/automatique manual/manuel hot/chaud
cold/froid dry/sec:sèche wet/humide round/rond square/carré narrow/étroit wide/large elegant/élégant
practical/pratique resistant/résistant transparent/transparent flexible/souple digital/numérique
wireless/sans_fil:sans_fil:sans_fil magnetic/magnétique metallic/métallique thick/épais:épaisse
ergonomic/ergonomique compact/compact rechargeable/rechargeable decorative/décoratif washable/lavable
comfortable/confortable"""

# English nouns with several French translations, disambiguated by an adjective or a complement:
# english | kind | french | gender | adjectives (english/french) | complements (english/french, joined by of/de)
AMBIGUOUS = """
bank|o|banque|f|central/central private/privé national/national European/européen|money/argent
bank|l|rive|f|green/vert muddy/boueux:boueuse opposite/opposé|the_river/le_fleuve the_lake/le_lac
plant|l|usine|f|nuclear/nucléaire chemical/chimique industrial/industriel|cement/ciment
plant|t|plante|f|tropical/tropical medicinal/médicinal rare/rare|the_garden/le_jardin
court|o|tribunal|m|criminal/criminel constitutional/constitutionnel federal/fédéral|justice/justice
court|l|terrain|m|indoor/couvert sunny/ensoleillé|tennis/tennis
bill|t|projet_de_loi:projets_de_loi|m|parliamentary/parlementaire constitutional/constitutionnel|finance/finances
bill|t|addition|f|unpaid/impayé monthly/mensuel|the_restaurant/le_restaurant
paper|t|quotidien|m|conservative/conservateur:conservatrice British/britannique liberal/libéral|the_capital/la_capitale
paper|t|papier|m|white/blanc:blanche thick/épais:épaisse blank/vierge|the_printer/la_imprimante
spring|e|printemps|m|rainy/pluvieux late/tardif|Prague/Prague
spring|l|source|f|hot/chaud mineral/minéral underground/souterrain|water/eau
chair|p|président|m|elected/élu current/actuel|the_committee/le_comité the_council/le_conseil
chair|t|chaise|f|wooden/en_bois:en_bois:en_bois empty/vide|the_kitchen/la_cuisine
cell|l|cellule|f|dark/sombre cramped/exigu:exiguë|the_prison/la_prison
cell|t|pile|f|electric/électrique rechargeable/rechargeable|the_battery/la_batterie
plot|e|complot|m|secret/secret:secrète sinister/sinistre|the_generals/les_généraux
plot|l|parcelle|f|fertile/fertile abandoned/abandonné|the_farm/la_ferme
trial|e|procès|m|criminal/criminel public/public:publique|the_century/le_siècle
trial|e|essai|m|clinical/clinique nuclear/nucléaire|the_medicine/le_médicament
figure|t|chiffre|m|economic/économique official/officiel annual/annuel|unemployment/chômage
figure|p|personnalité|f|political/politique historic/historique|the_opposition/la_opposition
ring|t|bague|f|golden/doré precious/précieux|the_queen/la_reine
ring|o|réseau|m|criminal/criminel clandestine/clandestin|traffickers/trafiquants
"""

# Verbs: english[:past[:participle]]/french | kinds of object. A French verb with a preposition is `verb+preposition`;
# a trailing * marks the auxiliary être.
TRANSITIVE = """visit/visiter|opl support/soutenir|pote criticise/critiquer|pota accept/accepter|ta
reject/rejeter|ta present/présenter|t write:wrote:written/écrire|t read:read:read/lire|t publish/publier|t
sign/signer|t buy:bought:bought/acheter|t sell:sold:sold/vendre|t help/aider|po meet:met:met/rencontrer|p
arrest/arrêter|p attack/attaquer|opl defend/défendre|poa protect/protéger|pola attend/assister+à|e
see:saw:seen/voir|ptol find:found:found/trouver|ptl lose:lost:lost/perdre|tp prepare/préparer|te
organise/organiser|e create/créer|ot build:built:built/construire|tl destroy/détruire|tl finance/financer|ote
study/étudier|at analyse/analyser|ta discuss/discuter+de|ta change/changer|t improve/améliorer|ta
reduce/réduire|ta increase/augmenter|t promote/promouvoir|ae follow/suivre|pte control/contrôler|ol
lead:led:led/diriger|oe choose:chose:chosen/choisir|pt win:won:won/gagner|te receive/recevoir|pt
send:sent:sent/envoyer|tp show:showed:shown/montrer|t hide:hid:hidden/cacher|tp explain/expliquer|ta
describe/décrire|tle invite/inviter|po thank/remercier|po accuse/accuser|po condemn/condamner|pae
love/aimer|pa hate/détester|pa admire/admirer|pt respect/respecter|pota fear/craindre|pae
understand:understood:understood/comprendre|tap forget:forgot:forgotten/oublier|tpe need/avoir_besoin+de|tpa
use/utiliser|t examine/examiner|t finish/terminer|te begin:began:begun/commencer|te stop/interrompre|e
threaten/menacer|pol leave:left:left/quitter|lo look_for:looked_for:looked_for/chercher|ptl
wait_for:waited_for:waited_for/attendre|pte listen_to:listened_to:listened_to/écouter|p
talk_about:talked_about:talked_about/parler+de|tae think_of:thought_of:thought_of/penser+à|ptae
answer/répondre+à|pt obey/obéir+à|po depend_on:depended_on:depended_on/dépendre+de|oa
participate_in:participated_in:participated_in/participer+à|e
belong_to:belonged_to:belonged_to/appartenir+à|po trust/faire_confiance+à|po represent/représenter|ota
replace/remplacer|pt approve/approuver|t denounce/dénoncer|tae encourage/encourager|pa block/bloquer|te
negotiate/négocier|t adopt/adopter|t propose/proposer|t impose/imposer|t ignore/ignorer|pta
observe/observer|ep celebrate/célébrer|e cancel/annuler|te open/ouvrir|tl close/fermer|ol elect/élire|p
nominate/nommer|p interview/interroger|p investigate/enquêter+sur|te guarantee/garantir|ta provide/fournir|t
cover/couvrir|e know:knew:known/connaître|pol"""

INTRANSITIVE = """arrive/arriver* leave:left:left/partir* die/mourir* fall:fell:fallen/tomber* stay/rester*
return/revenir* vote/voter work/travailler resign/démissionner speak:spoke:spoken/parler smile/sourire
sleep:slept:slept/dormir win:won:won/gagner lose:lost:lost/perdre succeed/réussir fail/échouer react/réagir
hesitate/hésiter cry/pleurer sing:sang:sung/chanter travel:travelled:travelled/voyager protest/protester
disappear/disparaître wait/attendre go_out:went_out:gone_out/sortir* come_back:came_back:come_back/revenir*
dance/danser"""

HAPPENING = """continue/continuer begin:began:begun/commencer change/changer fail/échouer increase/augmenter
succeed/réussir disappear/disparaître decline/diminuer progress/progresser"""

REPORTING = """say:said:said/dire announce/annoncer think:thought:thought/penser believe/croire
declare/déclarer explain/expliquer know:knew:known/savoir confirm/confirmer add/ajouter claim/affirmer
hope/espérer guess/deviner promise/promettre write:wrote:written/écrire show:showed:shown/montrer
understand:understood:understood/comprendre forget:forgot:forgotten/oublier estimate/estimer reveal/révéler
report/rapporter admit/admettre recall/rappeler"""

INSTRUCTION_VERBS = """remove/retirer clean/nettoyer replace/remplacer check/vérifier press/presser close/fermer
open/ouvrir install/installer connect/brancher disconnect/débrancher turn/tourner adjust/régler use/utiliser
order/commander wash/laver store/ranger protect/protéger fix/fixer fill/remplir empty/vider
choose:chose:chosen/choisir read:read:read/lire cut:cut:cut/couper tighten/serrer loosen/desserrer
place/placer insert/insérer lift/soulever dry/sécher charge/charger test/tester mount/monter
switch_on:switched_on:switched_on/allumer switch_off:switched_off:switched_off/éteindre"""

# Irregular French verbs: present (third person singular, plural), future stem, participle, imperative.
IRREGULAR = {
    "soutenir": "soutient soutiennent soutiendr soutenu",
    "appartenir": "appartient appartiennent appartiendr appartenu",
    "rejeter": "rejette rejettent rejetter rejeté",
    "rappeler": "rappelle rappellent rappeller rappelé",
    "écrire": "écrit écrivent écrir écrit",
    "décrire": "décrit décrivent décrir décrit",
    "lire": "lit lisent lir lu lisez",
    "élire": "élit élisent élir élu",
    "voir": "voit voient verr vu",
    "construire": "construit construisent construir construit",
    "détruire": "détruit détruisent détruir détruit",
    "réduire": "réduit réduisent réduir réduit",
    "promouvoir": "promeut promeuvent promouvr promu",
    "suivre": "suit suivent suivr suivi",
    "recevoir": "reçoit reçoivent recevr reçu",
    "envoyer": "envoie envoient enverr envoyé",
    "craindre": "craint craignent craindr craint",
    "éteindre": "éteint éteignent éteindr éteint éteignez",
    "comprendre": "comprend comprennent comprendr compris",
    "interrompre": "interrompt interrompent interrompr interrompu",
    "faire confiance": "fait_confiance font_confiance fer_confiance fait_confiance",
    "avoir besoin": "a_besoin ont_besoin aur_besoin eu_besoin",
    "ouvrir": "ouvre ouvrent ouvrir ouvert ouvrez",
    "couvrir": "couvre couvrent couvrir couvert",
    "connaître": "connaît connaissent connaîtr connu",
    "disparaître": "disparaît disparaissent disparaîtr disparu",
    "partir": "part partent partir parti",
    "sortir": "sort sortent sortir sorti",
    "mourir": "meurt meurent mourr mort",
    "revenir": "revient reviennent reviendr revenu",
    "sourire": "sourit sourient sourir souri",
    "dormir": "dort dorment dormir dormi",
    "dire": "dit disent dir dit",
    "croire": "croit croient croir cru",
    "savoir": "sait savent saur su",
    "promettre": "promet promettent promettr promis",
    "admettre": "admet admettent admettr admis",
}

# Adverbs: the English one precedes the verb, the French one follows the conjugated verb.
ADVERBS = """often/souvent always/toujours already/déjà rarely/rarement sometimes/parfois quickly/rapidement
probably/probablement finally/finalement clearly/clairement officially/officiellement openly/ouvertement
immediately/immédiatement really/vraiment publicly/publiquement recently/récemment carefully/soigneusement
secretly/secrètement severely/sévèrement completely/complètement largely/largement"""

# Adjuncts without a noun phrase; prepositions for adjuncts with one: english/french|kinds of noun
TIMES = """yesterday/hier today/aujourd'hui on_Monday/lundi on_Tuesday/mardi on_Wednesday/mercredi
on_Thursday/jeudi on_Friday/vendredi on_Saturday/samedi on_Sunday/dimanche last_year/la_année_dernière
last_week/la_semaine_dernière this_morning/ce_matin next_month/le_mois_prochain in_the_evening/le_soir
for_a_long_time/longtemps in_the_end/en_fin_de_compte at_the_same_time/en_même_temps
this_time/cette_fois every_day/chaque_jour"""
MONTHS = """January/janvier February/février March/mars April/avril May/mai June/juin July/juillet August/août
September/septembre October/octobre November/novembre December/décembre"""
PREPOSITIONS = """near/près_de|l in_front_of/devant|l during/pendant|e after/après|e before/avant|e
since/depuis|e with/avec|po without/sans|poa for/pour|poa against/contre|oa because_of/à_cause_de|ae
thanks_to/grâce_à|pao despite/malgré|ae around/autour_de|l behind/derrière|l"""
COUNTRIES = """France/la_France/en Germany/la_Allemagne/en Russia/la_Russie/en China/la_Chine/en
Spain/la_Espagne/en Italy/la_Italie/en Canada/le_Canada/à_le Japan/le_Japon/à_le Brazil/le_Brésil/à_le
Poland/la_Pologne/en Greece/la_Grèce/en Turkey/la_Turquie/en Egypt/la_Égypte/en India/la_Inde/en
Mexico/le_Mexique/à_le the_United_States/les_États-Unis/à_les Iraq/le_Irak/en Belgium/la_Belgique/en
Morocco/le_Maroc/à_le Norway/la_Norvège/en"""
NUMBERS = """two/deux three/trois four/quatre five/cinq six/six ten/dix twelve/douze twenty/vingt
fifty/cinquante seven/sept eight/huit nine/neuf thirty/trente"""

FIRST_NAMES = {
    "m": """Paul Peter David Michael Thomas Daniel Martin Robert Simon Marc Alexander Victor Nicolas Antoine
    Samuel Philip Benjamin Adam Bruno Oscar Louis Max Gabriel Ivan Boris Omar Carlos Diego Karl Stefan Marco
    Luca Viktor Pavel""",
    "f": """Anna Maria Sarah Julia Laura Claire Sophie Nina Emma Alice Elena Marie Louise Caroline Eva Clara
    Olga Irina Fatima Carmen Isabel Ingrid Petra Monica Victoria Nadia Rosa Teresa Vera Sonia""",
}
NAME_STEMS = """Bar Mel Tor Ver Lan Gor Mar Kel Dor Sal Ber Fen Wal Cor Ral Ster Gran Blan Kov Pet Dun Rom Sim
Tal Vas Zan Lor Mon Nor Pol Rad Stan Trem Ul Wen Ab Eld Ing Os Bram Cal Del Fal Gil Jan Kar Lem Mur Ned Pas"""
NAME_MIDDLES = """a e i o u ar en il on er"""
NAME_ENDINGS = """ov in man sen ard etti ski well son ier eau vic dez mont ley ger lin rand tti kova nard"""
TOWN_ENDINGS = """ville burg ton grad mont port stad field polis bourg"""

# Words with an aspirated h, before which nothing is elided, and forms of some words before a vowel.
ASPIRATE = "héros|haut|hausse|hasard|huit"
FORM_BEFORE_VOWEL = {"ce": "cet", "nouveauX": "nouvel", "vieuxX": "vieil", "beauX": "bel", "sa": "son"}
